// Progress in the browser's storage: solved challenges, and the placements of each. Storage may be
// full, broken or forbidden; then progress lasts as long as the page.
/** @import { Game } from "./play-game.js" */

const SCHEMA = 1;

/** Reads a stored document: null if it is invalid, undefined if storage is unavailable.
 * @type {(key: string) => any} */
export function readItem(key) {
  try {
    return parseJson(window.localStorage.getItem(key));
  } catch {
    return undefined;
  }
}

/** Parses JSON; null if it is invalid.
 * @type {(text: string | null) => any} */
function parseJson(text) {
  try {
    return JSON.parse(/** @type {string} */ (text));
  } catch {
    return null;
  }
}

/** Stores a document; returns whether that succeeded.
 * @type {(key: string, document: object) => boolean} */
export function writeItem(key, document) {
  try {
    window.localStorage.setItem(key, JSON.stringify(document));
    return true;
  } catch {
    return false;
  }
}

/** The key of the challenge of a day, and its counts.
 * @typedef {[name: string, hints: number, moves: number, ms: number]} DayResult */

export class Store {
  /** Counts the solved ones of `entries`, and calls `failed` when progress can no longer be stored.
   * @param {string} name
   * @param {Fabkit.Entry[]} entries
   * @param {() => void} failed */
  constructor(name, entries, failed) {
    this.key = `fabkit/${name}`;
    this.entries = entries;
    this.failed = failed;
    this.isPersistent = true; // whether progress outlives the page
    this.open = "";
    /** The hints of each solved challenge.
     * @type {Map<string, number>} */
    this.solved = new Map();
    /** The fewest moves and the shortest time in ms of each challenge, without hints.
     * @type {Map<string, [moves: number, ms: number]>} */
    this.best = new Map();
    /** The hints, placements and other counters of each challenge.
     * @type {Map<string | null, [hints: number, pieces: Fabkit.Stored[], ...counts: number[]]>} */
    this.boards = new Map();
    /** The result of each day on which its challenge was solved.
     * @type {Map<string, DayResult>} */
    this.days = new Map();
    this.read();
  }

  /** Reads stored progress, perhaps of another window, without invalid parts. Returns true when a newer
   * version has stored it, which must not be overwritten.
   * @type {(game?: Game | null) => boolean} */
  read(game = null) {
    const kept = readItem(this.key);
    if (kept === undefined) this.isPersistent = false;
    if (kept?.schema !== SCHEMA) return kept?.schema > SCHEMA;
    if (typeof kept.open === "string" && !game) this.open = kept.open;
    const mine = game && storageKey(game.entry);
    const own = this.boards.get(mine);
    this.boards = new Map();
    this.merge(kept);
    if (own) this.boards.set(mine, own);
    else this.boards.delete(mine);
    return false;
  }

  /** Merges a document; placements only of challenges that have none yet.
   * @param {{ solved?: unknown, best?: unknown, boards?: unknown, days?: unknown }} document */
  merge(document) {
    for (const [name, hints] of namedLists(document.solved)) {
      if (isCount(hints)) this.noteSolved(name, hints);
    }
    for (const [name, moves, ms] of namedLists(document.best)) {
      if (isCount(moves) && isCount(ms)) this.noteBest(name, moves, ms);
    }
    for (const [name, hints, pieces, ...counts] of namedLists(document.boards)) {
      if (!isCount(hints) || this.boards.has(name)) continue;
      this.boards.set(name, [hints, lists(pieces), ...counts.filter(isCount)]);
    }
    for (const [date, name, hints, moves, ms] of namedLists(document.days)) {
      const isResult =
        /^\d{4}-\d\d-\d\d$/.test(date) &&
        typeof name === "string" &&
        [hints, moves, ms].every(isCount);
      if (isResult) this.noteDay(date, [name, hints, moves, ms]);
    }
  }

  /** All progress as a document. */
  get document() {
    const [boards, best, days] = [this.boards, this.best, this.days].map((all) =>
      [...all].map(([name, numbers]) => [name, ...numbers]),
    );
    return {
      schema: SCHEMA,
      open: this.open,
      tally: this.tally(this.entries),
      solved: [...this.solved],
      best,
      boards,
      days,
    };
  }

  /** The number of solved challenges, and of all that may have a solution.
   * @type {(entries: Fabkit.Entry[]) => [solved: number, count: number]} */
  tally(entries) {
    const possible = entries.filter(({ status }) => status !== "impossible");
    return [possible.filter((entry) => this.isSolved(entry)).length, possible.length];
  }

  /** Merges the progress of a file; returns the key of the message to announce.
   * @type {(text: string, game: Game) => string} */
  importProgress(text, game) {
    const imported = parseJson(text);
    if (imported?.schema > SCHEMA) return "say_import_newer";
    if (imported?.schema !== SCHEMA || `fabkit/${imported.set}` !== this.key)
      return "say_import_bad";
    this.write(game, imported);
    return this.isPersistent ? "say_imported" : "unkept";
  }

  /** Merges the current challenge and another document into the stored progress.
   * @param {Game} game
   * @param {object} more */
  write(game, more = {}) {
    const wasPersistent = this.isPersistent;
    this.isPersistent = !this.read(game);
    this.merge(more);
    if (this.isPersistent) this.isPersistent = writeItem(this.key, this.document);
    if (wasPersistent && !this.isPersistent) this.failed();
  }

  /** @type {(entry: Fabkit.Entry) => boolean} */
  isSolved(entry) {
    return this.solved.has(storageKey(entry));
  }

  /** Records a solved challenge with its fewest hints.
   * @param {string} name
   * @param {number} hints */
  noteSolved(name, hints) {
    if (!(Number(this.solved.get(name)) <= hints)) this.solved.set(name, hints);
  }

  /** Records the fewest moves and the shortest time of results without hints.
   * @param {string} name
   * @param {number} moves
   * @param {number} ms */
  noteBest(name, moves, ms) {
    const [fewest, shortest] = this.bestOf(name) ?? [moves, ms];
    this.best.set(name, [Math.min(fewest, moves), Math.min(shortest, ms)]);
  }

  /** Records the result of a day; of several the one with the fewest hints, then moves, then time.
   * @param {string} date
   * @param {DayResult} result */
  noteDay(date, result) {
    const known = this.days.get(date) ?? result;
    const differing = [1, 2, 3].find((place) => result[place] !== known[place]) ?? 1;
    this.days.set(date, result[differing] < known[differing] ? result : known);
  }

  /** Saves that the challenge of a day is solved.
   * @type {(date: string, game: Game) => void} */
  saveDay(date, game) {
    const { hints, moves, ms } = game.counts;
    this.noteDay(date, [storageKey(game.entry), hints, moves, ms]);
    this.write(game);
  }

  /** The fewest moves and the shortest time of a challenge, or undefined.
   * @type {(entry: Fabkit.Entry | string) => [moves: number, ms: number] | undefined} */
  bestOf(name) {
    return this.best.get(typeof name === "string" ? name : storageKey(name));
  }

  /** Saves the placements of a challenge, and whether it is solved.
   * @type {(game: Game, solved: boolean) => void} */
  save(game, solved) {
    const name = storageKey(game.entry);
    const { hints, moves, ms, shown } = game.counts;
    const pieces = serializePlacements(game);
    this.open = game.entry.id;
    if (pieces.length || hints || moves) this.boards.set(name, [hints, pieces, moves, ms, shown]);
    else this.boards.delete(name);
    if (solved && !shown) {
      this.noteSolved(name, hints);
      // Older versions did not count: some placed pieces may lack their moves.
      if (!hints && moves >= game.placements.size - game.fixed.size) this.noteBest(name, moves, ms);
    }
    this.write(game);
  }

  /** Restores the placements and counters of a challenge.
   * @type {(game: Game) => void} */
  restore(game) {
    const [hints, pieces, moves = 0, ms = 0, shown = 0] = this.boards.get(
      storageKey(game.entry),
    ) ?? [0, []];
    game.totals = { hints, moves, ms, shown };
    restorePlacements(game, pieces);
  }
}

/** The placements of a challenge, without given pieces, as a list for JSON.
 * @type {(game: Game) => Fabkit.Stored[]} */
export function serializePlacements(game) {
  return [...game.placements]
    .filter(([piece, { orientation, at }]) => !game.fixed.has(piece) && (at || orientation))
    .map(([piece, { orientation, at }]) => [
      game.data.pieces[piece].id,
      orientation,
      ...(at ?? []),
    ]);
}

/** Places the pieces of such a list as part of the current step; invalid ones are skipped.
 * @type {(game: Game, pieces: Fabkit.Stored[]) => void} */
export function restorePlacements(game, pieces) {
  for (const [id, orientation, x, y] of pieces) {
    const piece = game.data.pieces.findIndex((known) => known.id === id);
    const known = game.placements.has(piece) && !game.fixed.has(piece) && isCount(orientation);
    if (!known || orientation >= game.count(piece)) continue;
    const at = /** @type {Fabkit.Point} */ ([x, y]);
    const lies =
      at.every(Number.isInteger) &&
      game.grid.isStep(...at) &&
      game.isInField(piece, orientation, at);
    game.adjust(piece, { orientation, at: lies ? at : null });
  }
}

/** The key of a challenge; its mark differs from that of a namesake in a changed set.
 * @param {Fabkit.Entry} entry */
const storageKey = (entry) => `${entry.id} ${entry.mark}`;
/** @type {(list: unknown) => any[]} */
export const lists = (value) => (Array.isArray(value) ? value.filter(Array.isArray) : []);
/** @param {unknown} value */
const namedLists = (value) => lists(value).filter(([name]) => typeof name === "string");
/** @param {any} value */
const isCount = (value) => Number.isInteger(value) && value >= 0;
