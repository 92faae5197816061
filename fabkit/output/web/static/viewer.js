// The 3D view: pieces laid out, or assembled as in the solution. Library and meshes are loaded when
// it becomes visible.
import { formatMessage, html } from "./play-draw.js";
import { findEntry } from "./play-families.js";
import { cellsKey, pairs } from "./play-grid.js";
import { ViewerScene } from "./viewer-scene.js";

/** The library is beside this script, also when several pages share it. */
const { src: here } = /** @type {HTMLScriptElement} */ (document.currentScript);
const SCRIPTS = ["models.js", new URL("vendor/three.js", here).href];
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const data = window.FABKIT;
const section = /** @type {HTMLElement} */ (document.getElementById("viewer"));
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("view"));
const slider = /** @type {HTMLInputElement} */ (document.getElementById("apart"));
const note = /** @type {HTMLElement} */ (document.getElementById("view-note"));
const keys = html("p", { id: "view-keys" });

/** @type {ViewerScene | null} */
let stage = null;
/** The mesh of a blocker, of which several may be seen. */
let blockerBytes = new Uint8Array();
/** @type {Promise<void> | null} */
let starting = null;
/** @type {{ kind: string, entry: string | null }} */
let request = { kind: "pieces", entry: null };

/** Formats a message; names are isolated, so that they cannot reorder the text around them.
 * @type {(key: string, places: Record<string, string | undefined>) => string} */
const text = (key, places) => {
  const apart = Object.entries(places).map(([name, value]) => [name, `\u2068${value}\u2069`]);
  return formatMessage(data.messages[key], Object.fromEntries(apart));
};

/** The board of an entry, with its id, if there is one.
 * @param {Fabkit.Entry} entry */
function boardOf({ cells, minus = [], halves }) {
  const boards = halves === 1 ? Object.entries(window.FABKIT_MODELS.boards) : [];
  const whole = cellsKey(pairs([...cells, ...minus]));
  return boards.find(([, board]) => cellsKey(pairs(board.cells)) === whole);
}

/** @type {(src: string) => Promise<unknown>} */
const load = (src) =>
  new Promise((onload, onerror) => {
    document.head.append(html("script", { src, async: false, onload, onerror }));
  });

function canDraw() {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return context !== null && typeof DecompressionStream === "function";
}

/** Falls back to a still image without controls. */
function showPicture() {
  const alt = text("view_still", { title: data.title });
  canvas.replaceWith(html("img", { id: "view-still", src: "still.webp", alt }));
  keys.remove();
  /** @type {HTMLElement} */ (section.querySelector(".under")).hidden = true;
  note.textContent = data.messages.view_none;
}

async function start() {
  if (!canDraw()) return showPicture();
  note.textContent = data.messages.view_loading;
  try {
    await Promise.all(SCRIPTS.map(load));
    const made = new ViewerScene(canvas);
    const { pieces, boards, lids } = window.FABKIT_MODELS;
    for (const [id, model] of Object.entries({ ...pieces, ...boards, ...lids })) {
      made.add(id, model, await ViewerScene.inflate(model));
    }
    if (pieces.blocker) blockerBytes = await ViewerScene.inflate(pieces.blocker);
    stage = made;
  } catch {
    return showPicture();
  }
  show(false);
}

/** Lays out the pieces and the board of a challenge, or everything with the lids.
 * @type {(stage: ViewerScene, entry: Fabkit.Entry | undefined) => Map<string, number[]>} */
function inRows(stage, entry) {
  const { pieces, boards, lids } = window.FABKIT_MODELS;
  const board = entry && boardOf(entry);
  const used = entry?.pieces.map((place) => data.pieces[place].id) ?? Object.keys(pieces);
  const others = entry ? (board ? [board[0]] : []) : Object.keys({ ...boards, ...lids });
  return stage.rows(used, others);
}

/** The placements of the solution, with the board, if there is one.
 * @type {(stage: ViewerScene, entry: Fabkit.Entry, solution: Fabkit.Lying[]) =>
 *   Map<string, number[]>} */
function assembled(stage, entry, solution) {
  const { lattice, unitMm, pieces } = data;
  const [name, board] = boardOf(entry) ?? [];
  const [across, up] = lattice.step.map((step) => (step * unitMm) / entry.halves);
  const places = new Map(name === undefined ? [] : [[name, IDENTITY]]);
  /** @type {(model: string, orientation: number, x: number, y: number) => number[]} */
  const placed = (model, orientation, x, y) => {
    const matrix = [...window.FABKIT_MODELS.pieces[model].orientations[orientation]];
    matrix[12] += x * across;
    matrix[13] += y * up;
    matrix[14] += board?.rest ?? 0;
    return matrix;
  };
  for (const [place, orientation, x, y] of solution) {
    places.set(pieces[place].id, placed(pieces[place].id, orientation, x, y));
  }
  const model = window.FABKIT_MODELS.pieces.blocker;
  const blockers = model ? (entry.blockers ?? []).filter((blocker) => blocker.length) : [];
  blockers.forEach(([orientation, x, y], number) => {
    const id = `blocker-${number + 1}`;
    if (!stage.has(id)) stage.add(id, model, blockerBytes);
    places.set(id, placed("blocker", orientation, x, y));
  });
  return places;
}

/** Shows the requested layout; with `moving`, pieces travel there.
 * @param {boolean} moving */
function show(moving) {
  if (!stage) return;
  const entry = request.entry === null ? undefined : findEntry(data, request.entry);
  const solution = request.kind === "solution" ? entry?.solution : undefined;
  slider.disabled = !solution;
  stage.apart = solution ? share() : 0;
  const places = entry && solution ? assembled(stage, entry, solution) : inRows(stage, entry);
  const parting = [...places.keys()].filter((id) => solution && id in window.FABKIT_MODELS.pieces);
  stage.show(places, parting, moving);
  const names = { title: data.title, challenge: entry?.title };
  const key = solution ? "view_solution" : entry ? "view_entry" : "view_pieces";
  canvas.setAttribute("aria-label", text(key, names));
  const lacking = request.kind === "solution" && entry && !solution;
  // Opening a challenge announces its title; this would be too much.
  note.setAttribute("aria-live", request.kind === "entry" ? "off" : "polite");
  note.textContent = text(lacking ? "view_unsolved" : key, names);
}

/** Translates the fixed texts. */
function updateLabels() {
  keys.textContent =
    data.messages[matchMedia("(pointer: coarse)").matches ? "view_touch" : "view_keys"];
  canvas.setAttribute("aria-label", text("view_pieces", { title: data.title }));
  show(false);
}

/** How far the slider explodes the assembly, from 0 to 1. */
const share = () => Number(slider.value) / Number(slider.max);
const startOnce = () => (starting ??= start());

/** @type {(kind: string, detail: { id: string | null }) => void} */
function onRequest(kind, { id }) {
  request = { kind, entry: kind === "pieces" ? null : id };
  if (kind === "solution") startOnce();
  show(true);
}

canvas.setAttribute("role", "img");
canvas.setAttribute("aria-describedby", keys.id);
canvas.tabIndex = 0;
section.append(keys);
// The wheel scrolls the page unless the view has the focus.
/** @param {Event} event */
const blockZoom = (event) => document.activeElement !== canvas && event.stopPropagation();
section.addEventListener("wheel", blockZoom, { capture: true, passive: true });
slider.addEventListener("input", () => stage?.setApart(share()));
slider.disabled = true;
for (const kind of /** @type {const} */ (["entry", "solution", "pieces"])) {
  document.addEventListener(`fabkit:${kind}`, ({ detail }) => onRequest(kind, detail));
}
document.addEventListener("fabkit:language", updateLabels);
new IntersectionObserver(
  (seen, observer) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    startOnce();
  },
  { rootMargin: "200px" },
).observe(section);

/** The state, for tests. */
window.fabkitViewer = Object.freeze({
  get state() {
    const { resting = false, frames = 0, apart = 0 } = stage ?? {};
    const matrices = stage?.matrices() ?? {};
    return { ready: stage !== null, resting, frames, apart, shown: { ...request }, matrices };
  },
});
