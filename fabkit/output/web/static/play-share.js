// Sharing: links to challenges, and progress as a file. A link contains the id of a challenge on the
// page, or else the whole challenge, compressed.
import { formatMessage, html } from "./play-draw.js";
import { findEntry } from "./play-families.js";
import { Game } from "./play-game.js";
import { Grid, pairs } from "./play-grid.js";
import { lists, restorePlacements, serializePlacements } from "./play-store.js";

/** @import { Store } from "./play-store.js" */

const SCHEMA = 1;
/** Limits of a link: decompressed characters, number of cells, and coordinates. */
const [MOST_TEXT, MOST_CELLS, FARTHEST] = [100000, 3000, 20000];

/** What a custom challenge has of the one that it was made from. */
const RULES = /** @type {const} */ ([
  "minus",
  "blocked",
  "blocks",
  "blockers",
  "clues",
  "clueCount",
  "board",
  "open",
]);

/** Compresses a document to URL-safe text.
 * @param {object} document */
async function pack(document) {
  const packed = new Blob([JSON.stringify(document)])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = window.btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decompresses a document; throws when it is invalid or too large.
 * @type {(text: string) => Promise<any>} */
async function unpack(text) {
  const bytes = window.atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const packed = new Blob([Uint8Array.from(bytes, (letter) => letter.charCodeAt(0))]).stream();
  const reader = packed.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let unpacked = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    unpacked += decoder.decode(part.value, { stream: true });
    if (unpacked.length > MOST_TEXT) reader.cancel();
    ensure(unpacked.length <= MOST_TEXT);
  }
  return JSON.parse(unpacked);
}

/** Throws an error with the key of its message.
 * @type {(condition: unknown, key?: string) => asserts condition} */
function ensure(condition, key = "say_no_link") {
  if (!condition) throw new Error(key);
}

/** Parses a link's hash: a challenge, its placements, and the hash without those; throws an error when
 * it is invalid; see `ensure`.
 * @type {(data: Fabkit.Data, hash: string) =>
 *   Promise<{ entry: Fabkit.Entry, placements: Fabkit.Stored[], hash: string }>} */
export async function parseLink(data, hash) {
  const [name, packed] = hash.slice(1).split("&");
  const id = decodeURIComponent(name);
  const document = packed === undefined ? null : await unpack(packed);
  ensure(!document || document.set === data.name, "say_link_set");
  ensure(!document || !(document.schema > SCHEMA), "say_link_newer");
  ensure(!document || document.schema === SCHEMA);
  const entry = id ? findEntry(data, id) : customEntry(data, document);
  ensure(entry);
  return { entry, placements: lists(document?.lying), hash: await linkHash(data, entry) };
}

/** The hash of a challenge, with or without placements.
 * @type {(data: Fabkit.Data, entry: Fabkit.Entry, placements?: Fabkit.Stored[]) =>
 *   Promise<string>} */
async function linkHash(data, entry, placements = undefined) {
  const head = { schema: SCHEMA, set: data.name };
  if (!entry.own) {
    const more = placements ? `&${await pack({ ...head, lying: placements })}` : "";
    return `#${encodeURIComponent(entry.id)}${more}`;
  }
  return `#&${await pack({ ...head, ...entry.own, lying: placements })}`;
}

/** The custom challenge of a document; throws when anything is invalid.
 * @type {(data: Fabkit.Data, document: Fabkit.Own) => Fabkit.Entry} */
function customEntry(
  data,
  { of, mark, halves, flips, pieces, count = pieces.length, cells, given },
) {
  ensure(data.lattice.kinds.every((kind) => kind.parts[halves]) && typeof flips === "boolean");
  ensure(!flips || data.pieces.every((piece) => "flip" in piece.orientations[0]));
  ensure(Array.isArray(pieces) && Array.isArray(cells) && cells.length <= 2 * MOST_CELLS);
  ensure(
    cells.every((coordinate) => Number.isInteger(coordinate) && Math.abs(coordinate) <= FARTHEST),
  );
  const places = data.pieces
    .map((_, place) => place)
    .filter((place) => pieces.includes(data.pieces[place].id));
  ensure(places.length === pieces.length && cells.length && cells.length % 2 === 0);
  const source = findEntry(data, of);
  const isSameProblem =
    source &&
    String([source.cells, source.pieces, source.count]) === String([cells, places, count]);
  /** Its rules are those of the challenge that it was made from.
   * @type {Partial<Fabkit.Entry>} */
  const rules = isSameProblem ? Object.fromEntries(RULES.map((name) => [name, source[name]])) : {};
  const { open = 0, minus, clues } = rules;
  const hasRules = Boolean(open || minus || clues);
  ensure(mark === undefined || (hasRules && source?.mark === mark)); // another version may have other rules
  const grid = new Grid(data.lattice, halves);
  ensure(pairs(cells).every(([x, y]) => grid.kindOf(x, y)));
  const isSome = count < pieces.length;
  const own = {
    of,
    ...(hasRules && { mark: source?.mark }),
    halves,
    flips,
    pieces,
    ...(isSome && { count }),
    cells,
    given,
  };
  const id = `own-${digest(JSON.stringify([halves, flips, pieces, cells, given, ...(isSome ? [count] : []), ...(hasRules ? [of] : [])]))}`;
  const rings = isSameProblem ? source.rings : grid.ringsOf(pairs(cells));
  /** @type {Fabkit.Entry} */
  const entry = {
    id,
    mark: "",
    own,
    halves,
    flips,
    pieces: places,
    count,
    cells,
    rings,
    given: [],
    kind: "own",
    title: "",
    ...rules,
    open,
  };
  const game = new Game(data, entry);
  /** @type {(size: (...sizes: number[]) => number) => number} */
  const covered = (size) =>
    places
      .map((piece) =>
        size(
          ...game
            .orientations(piece)
            .slice(0, game.count(piece))
            .map((turned) => grid.shape(turned).cells.length),
        ),
      )
      .reduce((sum, count) => sum + count, 0);
  const toCover = game.region.size - open;
  ensure(
    game.region.size === cells.length / 2 &&
      covered(Math.max) >= toCover &&
      (isSome || covered(Math.min) <= toCover),
  );
  restorePlacements(game, lists(given));
  const { doublyCovered, outside, against } = game.evaluate();
  entry.given = [...game.placements].flatMap(([piece, { orientation, at }]) =>
    at ? [[piece, orientation, ...at]] : [],
  );
  ensure(
    entry.given.length === given?.length && !doublyCovered.length && !outside.size && !against.size,
  );
  entry.title = source
    ? formatMessage(data.messages.own_of, { title: source.title })
    : data.messages.own;
  const known = new Set((isSameProblem && source.solution ? source.solution : []).map(String));
  if (source && known.size && entry.given.every((place) => known.has(String(place)))) {
    Object.assign(entry, { solution: source.solution, order: source.order });
  }
  return entry;
}

/** The current state as a custom challenge: pieces on the board become given.
 * @type {(game: Game) => Fabkit.Own} */
function toCustom({ entry, data, placements }) {
  /** @param {number} piece */
  const name = (piece) => data.pieces[piece].id;
  /** @type {Fabkit.Stored[]} */
  const given = [...placements].flatMap(([piece, { orientation, at }]) =>
    at ? [[name(piece), orientation, ...at]] : [],
  );
  const { halves, flips, count, cells, id } = entry;
  const { of, mark } = entry.own ?? {
    of: id,
    ...((entry.open || entry.minus || entry.clues) && { mark: entry.mark }),
  };
  const own = { of, mark, halves, flips, pieces: entry.pieces.map(name), cells, given };
  return count < entry.pieces.length ? { ...own, count } : own;
}

/** A short hash of a text, to distinguish challenges.
 * @param {string} text */
function digest(text) {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (const letter of text) {
    low = Math.imul(low ^ letter.charCodeAt(0), 2654435761);
    high = Math.imul(high ^ letter.charCodeAt(0), 1597334677);
  }
  return ((high >>> 0) * 2 ** 20 + ((low >>> 0) % 2 ** 20)).toString(36);
}

/** Asks in a dialog; resolves to the value of the chosen button, or "". The first has the focus.
 * @type {(text: string, choices: [string, string][], ...more: Node[]) => Promise<string>} */
export function ask(text, choices, ...more) {
  const label = html("p", { id: "play-ask" }, text);
  const buttons = choices.map(([value, name]) =>
    html(
      "button",
      { type: "button", className: "plain", value, onclick: () => dialog.close(value) },
      name,
    ),
  );
  const dialog = html("dialog", { className: "ask" }, label, ...more, html("div", {}, ...buttons));
  dialog.setAttribute("aria-labelledby", label.id);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** Shares a challenge: its start, its current state, or a custom challenge; returns the key of the
 * message to announce.
 * @type {(game: Game, messages: Fabkit.Messages) => Promise<string>} */
export async function share(game, messages) {
  const { data, entry } = game;
  const placements = serializePlacements(game);
  const { doublyCovered, outside, against, solved } = game.evaluate();
  const isStart =
    placements.some((placement) => placement.length > 2) &&
    !solved &&
    !doublyCovered.length &&
    !outside.size &&
    !against.size;
  /** @type {[choice: string, text: string][]} */
  const choices = [["plain", messages.share_plain]];
  if (placements.length) choices.push(["lying", messages.share_lying]);
  if (isStart) choices.push(["own", messages.share_own]);
  choices.push(["", messages.cancel]);
  const choice = await ask(messages.share_ask, choices);
  if (!choice) return "";
  const own = choice === "own" ? customEntry(data, toCustom(game)) : entry;
  const hash = await linkHash(data, own, choice === "lying" ? placements : undefined);
  return deliver(messages, { title: own.title, url: window.location.href.split("#")[0] + hash });
}

/** Shares a link or a text as the system does, or copies it, or shows it to be copied; returns the key
 * of the message to announce.
 * @type {(messages: Fabkit.Messages, shared: ShareData) => Promise<string>} */
export async function deliver(messages, shared) {
  try {
    if (!navigator.share) throw new TypeError();
    await navigator.share(shared);
    return "";
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return "";
  }
  const value = shared.url ?? shared.text ?? "";
  try {
    await navigator.clipboard.writeText(value);
    return "say_copied";
  } catch {
    const field = html("textarea", {
      readOnly: true,
      value,
      rows: shared.url ? 2 : 5,
      onfocus: () => field.select(),
    });
    field.setAttribute("aria-labelledby", "play-ask");
    await ask(messages.share_field, [["", messages.close]], field);
    return "say_not_copied";
  }
}

/** @type {(store: Store, data: Fabkit.Data) => void} */
export function saveFile(store, data) {
  const text = JSON.stringify({ set: data.name, ...store.document });
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  html("a", { href, download: `fabkit-${data.name}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

/** Asks for a file and passes its text to a function; undefined if it cannot be read.
 * @type {(take: (text: string | undefined) => void) => void} */
export function openFile(take) {
  const input = html("input", { type: "file", accept: ".json,application/json" });
  input.addEventListener("change", async () =>
    take(await /** @type {FileList} */ (input.files)[0].text().catch(() => undefined)),
  );
  input.click();
}
