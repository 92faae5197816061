// Drawing of pieces and regions. Texts always become text nodes.
import { boxOf, cellsKey, Grid, key, pairs, UNIT } from "./play-grid.js";

/** @import { Game } from "./play-game.js" */

const SVG = "http://www.w3.org/2000/svg";
/** Texts of a board are left out of pictures with a shorter grid unit. */
const LEAST_TEXT = 15;

/** Creates an SVG element with attributes.
 * @type {<Tag extends keyof SVGElementTagNameMap>(tag: Tag, attributes?: Fabkit.Attributes,
 *   ...children: (Node | string)[]) => SVGElementTagNameMap[Tag]} */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Creates an HTML element with properties.
 * @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag,
 *   properties?: Partial<HTMLElementTagNameMap[Tag]>,
 *   ...children: (Node | string)[]) => HTMLElementTagNameMap[Tag]} */
export function html(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Fills the placeholders of a message.
 * @type {(text: string, values: Record<string, string | number | undefined>) => string} */
export const formatMessage = (text, values) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** Formats the message for a count of things.
 * @type {(messages: Fabkit.Messages, key: string, count: number) => string} */
export const formatCount = (messages, key, count) =>
  formatMessage(messages[`${key}_${count === 1 ? "one" : "many"}`], { count });

/** Formats moves and time.
 * @type {(messages: Fabkit.Messages, counts: [moves: number, ms: number]) => string} */
export const score = (messages, [moves, ms]) => {
  const seconds = Math.floor(ms / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return `${formatCount(messages, "moves", moves)} · ${time}`;
};

/** A text around a height.
 * @type {(text: string, x: number, y: number, size: number, attributes: Fabkit.Attributes) =>
 *   SVGTextElement} */
const written = (text, x, y, size, attributes) =>
  svg("text", { x, y, dy: "0.357em", "font-size": size, ...attributes }, text);

/** Draws a piece into a group, with the lattice's anchor at the origin.
 * @type {(group: SVGGElement, game: Fabkit.Drawable, piece: number, orientation: number) => void} */
export function drawPiece(group, game, piece, orientation) {
  const { grid, data } = game;
  const { colour, ink, markInk, faint, tone, label, orientations } = data.pieces[piece];
  const shape = game.shape(piece, orientation);
  const body = { d: grid.path(shape.rings), fill: colour, class: "body" };
  /** @type {SVGElement[]} */
  const parts = [svg("path", data.ball ? { ...body, "fill-opacity": 0.35 } : body)];
  if (data.ball) parts.push(...balls(grid, shape.cells, data.ball, { fill: colour }));
  if (orientations[orientation].tones) {
    const toned = orientations[orientation].tones.map((ring) =>
      ring.map((value) => value * grid.halves),
    );
    parts.push(svg("path", { d: grid.path(toned), fill: tone, class: "tone" }));
    parts.push(svg("path", { ...body, fill: "none" }));
  }
  parts.push(svg("path", { d: body.d, class: "joint" })); // of two lines one stands out from any colour
  for (const [look, x, y, reach] of orientations[orientation].looks ?? []) {
    parts.push(markShape(grid, look, [x, y], reach, markInk));
  }
  const [x, y, size] = orientations[orientation].label;
  const [left, base] = grid.toDrawing(x * grid.halves, y * grid.halves);
  const style = { fill: ink, class: "letter", "aria-hidden": "true" };
  const text = written(label, left, base, size * UNIT, style);
  text.style.setProperty("--faint", faint); // on a given piece, which is faded
  group.replaceChildren(...parts, text);
}

/** Redraws a piece if its orientation has changed; returns whether it has.
 * @type {(group: SVGGElement, game: Fabkit.Drawable, piece: number, orientation: number) =>
 *   boolean} */
export function redrawPiece(group, game, piece, orientation) {
  const isNew = group.dataset.orientation !== String(orientation);
  if (isNew) drawPiece(group, game, piece, orientation);
  group.dataset.orientation = String(orientation);
  return isNew;
}

/** A mark of a piece, or what stands for it on a board: a hole, a cross, a dot, or the lack of any.
 * @type {(grid: Grid, look: string, centre: Fabkit.Point, reach: number, colour: string) =>
 *   SVGElement} */
function markShape(grid, look, centre, reach, colour) {
  const [x, y] = grid.toDrawing(centre[0] * grid.halves, centre[1] * grid.halves);
  const size = reach * UNIT;
  if (look === "dot") return svg("circle", { cx: x, cy: y, r: 0.24 * size, fill: colour });
  const line = {
    fill: "none",
    stroke: colour,
    "stroke-width": (look === "cross" ? 0.22 : 0.1) * size,
  };
  if (look === "hole")
    return svg("circle", { cx: x, cy: y, r: 0.34 * size, ...line, class: "hole" });
  const half = (look === "cross" ? 0.45 : 0.24) * size;
  const upright = look === "cross" ? `M${x} ${y - half}v${2 * half}` : "";
  return svg("path", { d: `M${x - half} ${y}h${2 * half}${upright}`, ...line });
}

/** The squares in the second colour that clues demand of a region.
 * @type {(grid: Grid, entry: Fabkit.Entry) => SVGElement[]} */
function paintedCells(grid, entry) {
  const painted = (entry.clues ?? []).filter(({ look }) => look?.startsWith("#"));
  return painted.map(({ look: fill = "", spots }) => {
    const d = grid.cellsPath(spots.flatMap((spot) => pairs(spot[3])));
    return svg("path", { d, fill, class: "painted" });
  });
}

/** What stands on the cells of a board: open cells, blockers, texts and clues.
 * @type {(grid: Grid, data: Fabkit.Data, entry: Fabkit.Entry, withTexts: boolean) => SVGElement[]} */
function boardDetails(grid, data, entry, withTexts) {
  const minus = pairs(entry.minus ?? []);
  const parts = [];
  if (minus.length)
    parts.push(svg("path", { d: grid.path(grid.ringsOf(minus)), class: "open-cell" }));
  const open = new Set(minus.map(([x, y]) => key(x, y)));
  const texts = entry.board === undefined ? [] : data.boards[entry.board];
  for (const cells of entry.blocks ?? []) {
    parts.push(svg("path", { d: grid.path(grid.ringsOf(pairs(cells))), class: "blocker" }));
  }
  for (const [text, x, y, size, cells] of withTexts ? texts : []) {
    const isOpen = pairs(cells).every(([cx, cy]) => open.has(key(cx, cy)));
    const [left, base] = grid.toDrawing(x, y);
    const style = isOpen ? (entry.blocked ? "on-blocker" : "on-open") : "";
    const attributes = { class: `letter board-text ${style}` };
    parts.push(written(text, left, base, size * UNIT, attributes));
  }
  const paints = (entry.clues ?? []).some(({ look }) => look?.startsWith("#"));
  for (const clue of entry.clues ?? []) {
    const piece = clue.piece === undefined ? undefined : data.pieces[clue.piece];
    const colour = piece?.colour ?? clue.colour;
    const isPainted = clue.look?.startsWith("#") || (clue.look === "plain" && paints);
    if (!colour && isPainted) continue;
    for (const [x, y, reach, cells] of clue.spots) {
      const [cx, cy] = grid.toDrawing(x, y);
      const r = 0.56 * reach * UNIT;
      const isMark = clue.look && !isPainted;
      if (isMark) {
        const mark = markShape(grid, clue.look ?? "", [x, y], reach, colour ?? "var(--ink)");
        mark.classList.add("clue");
        parts.push(mark);
      } else {
        const [d, fill] = [grid.cellsPath(pairs(cells)), colour ?? ""];
        if (!clue.look) parts.push(svg("path", { d, fill, class: "clue-cell" }));
        parts.push(svg("circle", { cx, cy, r, fill, class: "clue" }));
      }
      if (!piece) continue;
      const shift = isMark ? r : 0; // beside a mark, and smaller
      const style = { fill: isMark ? piece.colour : piece.ink, class: "letter clue-letter" };
      parts.push(written(piece.label, cx + shift, cy + shift, isMark ? r / 2 : r, style));
    }
  }
  return parts;
}

/** Circles at the centres of cells.
 * @type {(grid: Grid, cells: Fabkit.Point[], diameter: number, style: Fabkit.Attributes) =>
 *   SVGElement[]} */
function balls(grid, cells, diameter, style) {
  return cells.map(([x, y]) => {
    const [cx, cy] = grid.toDrawing(x, y);
    return svg("circle", { cx, cy, r: (diameter / 2) * UNIT, ...style });
  });
}

/** Draws a region: its shape, and faint lines between cells or sockets for balls.
 * @type {(group: SVGGElement, game: Game) => void} */
export function drawRegion(group, game) {
  const { grid, entry, data } = game;
  const outline = grid.path(entry.rings);
  const ground = svg("path", { d: outline, class: "ground" });
  const inside = data.ball
    ? balls(grid, pairs(entry.cells), data.ball, { class: "socket" })
    : [svg("path", { d: gridLines(game), class: "joints" })];
  const details = boardDetails(grid, data, entry, true);
  const rim = svg("path", { d: outline, class: "rim" });
  group.replaceChildren(ground, ...paintedCells(grid, entry), ...inside, ...details, rim);
}

/** The lines between units of area of a region.
 * @param {Game} game */
function gridLines({ grid, entry }) {
  const seen = new Set();
  const lines = [];
  const cells = pairs([...entry.cells, ...(entry.minus ?? [])]);
  for (const [from, to] of cells.flatMap((cell) => grid.linesOf(cell))) {
    const name = cellsKey([from, to]);
    if (seen.has(name)) lines.push(`M${grid.toDrawing(...from)}L${grid.toDrawing(...to)}`);
    seen.add(name);
  }
  return lines.join("");
}

/** The view box around a box in frame points, with a margin.
 * @type {(grid: Grid, box: Fabkit.Box, margin?: number) =>
 *   [x: number, y: number, width: number, height: number]} */
export function viewBox(grid, [left, bottom, right, top], margin = 0) {
  const [x0, y0] = grid.toDrawing(left, top);
  const [x1, y1] = grid.toDrawing(right, bottom);
  return [x0 - margin, y0 - margin, x1 - x0 + 2 * margin, y1 - y0 + 2 * margin];
}

/** Grids of the sets that are shown, by halves.
 * @type {WeakMap<Fabkit.Data, Fabkit.FullMap<number, Grid>>} */
const gridsBySet = new WeakMap();

/** A stand-in for a game, to draw pieces outside the board; grids are cached.
 * @type {(data: Fabkit.Data, halves: number) => Fabkit.Drawable} */
export function previewGame(data, halves) {
  const grids = gridsBySet.get(data) ?? /** @type {Fabkit.FullMap<number, Grid>} */ (new Map());
  gridsBySet.set(data, grids);
  if (!grids.has(halves)) grids.set(halves, new Grid(data.lattice, halves));
  const grid = grids.get(halves);
  return {
    data,
    grid,
    shape: (piece, orientation) => grid.shape(data.pieces[piece].orientations[orientation]),
  };
}

/** Width and height of a challenge's region, in grid units.
 * @type {(data: Fabkit.Data, entry: Fabkit.Entry) => Fabkit.Point} */
export function sizeOf(data, entry) {
  const box = viewBox(previewGame(data, entry.halves).grid, boxOf(entry.rings));
  return [box[2] / UNIT, box[3] / UNIT];
}

/** A small picture of a challenge with its given pieces, hidden from screen readers.
 * @type {(data: Fabkit.Data, entry: Fabkit.Entry, unit: number) => SVGSVGElement} */
export function picture(data, entry, unit) {
  const game = previewGame(data, entry.halves);
  const { grid } = game;
  const given = entry.given.map(([piece, orientation, x, y]) => {
    const group = svg("g", { class: "piece given" });
    drawPiece(group, game, piece, orientation);
    const [left, top] = grid.toDrawing(x, y);
    group.setAttribute("transform", `translate(${left} ${top})`);
    return group;
  });
  const box = viewBox(grid, boxOf(entry.rings), 6);
  const [width, height] = box.slice(2).map((side) => (side / UNIT) * unit);
  const region = svg("path", { d: grid.path(entry.rings), class: "silhouette" });
  const attributes = { viewBox: box.join(" "), width, height, "aria-hidden": "true" };
  const details = boardDetails(grid, data, entry, unit > LEAST_TEXT);
  return svg("svg", attributes, region, ...paintedCells(grid, entry), ...details, ...given);
}

/** A level as stars, beside its name.
 * @type {(entry: Fabkit.Entry) => HTMLSpanElement} */
export const stars = ({ stars: count }) =>
  html(
    "span",
    { className: "stars", ariaHidden: "true" },
    count ? "★".repeat(count) + "☆".repeat(5 - count) : "",
  );
