// The board (region, placed pieces, preview of a dragged one) and the tray (the other pieces, each a
// button with a drawing).
import { drawPiece, drawRegion, html, redrawPiece, svg, viewBox } from "./play-draw.js";
import { UNIT } from "./play-grid.js";

/** @import { Game } from "./play-game.js" */

/** Gap between the parking area, the region and the rim, in drawing units. */
const GAP = 0.25 * UNIT;
const LABEL = 0.44 * UNIT; // font size in the parking area, at most
const SPARKS = 24; // small pieces in the celebration

/** The playable drawing. Pieces are drawn once and then moved. */
export class Board {
  /** @param {SVGSVGElement} element */
  constructor(element) {
    this.element = element;
    this.groups = /** @type {Fabkit.FullMap<number, SVGGElement>} */ (new Map());
    this.region = svg("g");
    this.layer = svg("g");
    /** @type {Game} */
    this.game; // set by `open`
    this.faults = svg("path", { class: "doubled", fill: "url(#play-hatch)" });
    this.ghost = svg("path", { class: "ghost" });
    /** The focus ring around the outline of the selected piece. */
    this.ring = svg("g", { class: "ring" }, svg("path"), svg("path"));
    const stripe = svg("path", { d: "M0 0V14", class: "stripe" });
    const hatch = svg(
      "pattern",
      {
        id: "play-hatch",
        width: 14,
        height: 14,
        patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      },
      stripe,
    );
    element.replaceChildren(
      svg("defs", {}, hatch),
      this.region,
      this.layer,
      this.faults,
      this.ghost,
      this.ring,
    );
  }

  /** @type {(game: Game) => void} */
  open(game) {
    this.game = game;
    this.frame();
    this.groups = /** @type {typeof this.groups} */ (
      new Map([...game.placements.keys()].map((piece) => [piece, this.group(piece)]))
    );
    this.layer.replaceChildren(...this.groups.values());
    this.preview(null);
  }

  /** Aspect ratio and height of the available room; in portrait the tray takes half of the height.
   * @returns {[wide: number, heightPx: number]} */
  get room() {
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (this.element.parentElement);
    const height = Math.max(clientHeight, window.innerHeight / 2);
    return [clientWidth / height, height];
  }

  /** Draws the field: the region and the parking area. */
  frame() {
    const { game } = this;
    const { field, box: region } = game;
    const view = viewBox(game.grid, field);
    this.element.setAttribute("viewBox", view.join(" "));
    this.element.style.setProperty("--wide", String(view[2] / view[3]));
    drawRegion(this.region, game);
    const isBelow = field[3] - region[3] < region[1] - field[1] - 1e-6;
    const isBeside = region[0] - field[0] < field[2] - region[2] - 1e-6;
    if (!isBelow && !isBeside) return; // pieces are put aside in the tray
    /** @type {Fabkit.Box} */
    const park = isBelow
      ? [field[0], field[1], field[2], region[1]]
      : [region[2], field[1], field[2], field[3]];
    const [x, y, width, height] = viewBox(game.grid, park, -GAP);
    this.region.prepend(svg("rect", { x, y, width, height, rx: GAP, class: "park" }));
    const text = game.data.messages.park;
    const size = Math.min(LABEL, Math.max(width, height) / text.length / 0.6);
    const style = { class: "parking", "aria-hidden": "true", "data-text": "park" };
    const label = svg("text", { ...style, "font-size": size }, text);
    label.setAttribute(
      "transform",
      `translate(${x + width / 2} ${y + height / 2}) rotate(${isBelow ? 0 : 90})`,
    );
    this.region.prepend(label);
  }

  /** @param {number} piece */
  group(piece) {
    const id = this.game.data.pieces[piece].id;
    const kind = this.game.fixed.has(piece)
      ? { class: "piece given", role: "img" }
      : { class: "piece", role: "button" };
    return svg("g", { ...kind, "data-piece": id });
  }

  /** Updates the placed pieces.
   * @param {Fabkit.Verdict} verdict
   * @param {(piece: number) => string} name
   * @param {number | null} selected */
  update(verdict, name, selected) {
    const { game } = this;
    for (const [piece, group] of this.groups) {
      const { orientation, at } = game.placements.get(piece);
      group.classList.toggle("gone", !at);
      group.ariaHidden = at ? null : "true";
      group.classList.toggle("selected", piece === selected);
      group.classList.toggle(
        "wrong",
        verdict.overlaps.has(piece) || verdict.blocking.has(piece) || verdict.against.has(piece),
      );
      if (!at) {
        group.removeAttribute("tabindex");
        continue;
      }
      if (!game.fixed.has(piece)) group.setAttribute("tabindex", "0");
      redrawPiece(group, game, piece, orientation);
      const [x, y] = game.grid.toDrawing(...at);
      group.style.transform = `translate(${x}px, ${y}px)`;
      group.setAttribute("aria-label", name(piece));
    }
    const chosen = selected === null ? null : game.placements.get(selected);
    for (const path of this.ring.children) this.outline(path, selected, chosen);
    this.faults.setAttribute("d", game.grid.cellsPath(verdict.doublyCovered));
    this.element.classList.toggle("solved", verdict.solved);
  }

  /** Draws a piece on top by moving the others below it, so that it keeps the focus.
   * @type {(piece: number) => void} */
  raise(piece) {
    const group = this.groups.get(piece);
    while (group?.nextSibling) this.layer.insertBefore(group.nextSibling, group);
  }

  /** Celebrates: the pieces hop one after the other, and small ones fly. */
  celebrate() {
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const { grid, box, entry, placements } = this.game;
    const hop = [0, -0.3, 0, -0.08, 0].map((up) => ({ translate: `0 ${up * UNIT}px` }));
    const placed = entry.pieces.flatMap((piece) => {
      const { at } = placements.get(piece); // null for a piece that the solution leaves in the tray
      return at ? [{ piece, across: this.game.shape(piece).middle[0] + at[0] }] : [];
    });
    const row = placed.sort((left, right) => left.across - right.across).map(({ piece }) => piece);
    row.forEach((piece, i) =>
      this.groups.get(piece).animate(hop, { duration: 700, delay: 60 * i, easing: "ease-in-out" }),
    );
    const [x, y, width, height] = viewBox(grid, box);
    for (let i = 0; i < SPARKS; i++) {
      const inner = svg("g");
      const spark = svg("g", { class: "spark" }, inner);
      drawPiece(inner, this.game, row[i % row.length], 0);
      this.element.append(spark);
      const to = x + width * ((i * 0.618) % 1);
      /** @type {(left: number, top: number, size: number, turn: number) => string} */
      const fly = (left, top, size, turn) =>
        `translate(${left}px, ${top}px) rotate(${turn}deg) scale(${size})`;
      const keyframes = [
        {
          transform: fly(x + width / 2, y + height / 2, 0.05, 0),
          opacity: 1,
          easing: "ease-out",
        },
        {
          transform: fly(to, y + (height * (i % 5)) / 9, 0.3, 90),
          opacity: 1,
          easing: "ease-in",
        },
        { transform: fly(to, y + height * 1.3, 0.3, 360 - 40 * (i % 7)), opacity: 0 },
      ];
      spark.animate(keyframes, {
        duration: 1500 + 90 * (i % 6),
        delay: 25 * i,
        fill: "both",
      }).onfinish = () => spark.remove();
    }
  }

  /** Previews where a piece would land; null for nowhere.
   * @type {(piece: number | null, placement?: Fabkit.Placement | null) => void} */
  preview(piece, placement = null) {
    this.outline(this.ghost, piece, placement);
  }

  /** Draws a path around a placed piece; clears it otherwise.
   * @type {(path: Element, piece: number | null, placement: Fabkit.Placement | null) => void} */
  outline(path, piece, placement) {
    if (piece === null || !placement?.at) return path.setAttribute("d", "");
    path.setAttribute(
      "d",
      this.game.grid.path(this.game.shape(piece, placement.orientation).rings),
    );
    const [x, y] = this.game.grid.toDrawing(...placement.at);
    path.setAttribute("transform", `translate(${x} ${y})`);
  }

  /** Screen pixels per drawing unit, and the screen position of the origin. */
  get place() {
    const { a, e, f } = /** @type {DOMMatrix} */ (this.element.getScreenCTM());
    return { scale: a, left: e, top: f };
  }

  /** @type {(x: number, y: number) => boolean} */
  holds(x, y) {
    return isWithin(this.element, x, y);
  }

  /** Whether a pointer on the board is within the box around a piece that lies there.
   * @type {(piece: number, target: EventTarget | null, x: number, y: number) => boolean} */
  surrounds(piece, target, x, y) {
    const isOnBoard = this.element.contains(/** @type {Node} */ (target));
    return (
      isOnBoard &&
      Boolean(this.game.placements.get(piece).at) &&
      isWithin(this.groups.get(piece), x, y)
    );
  }
}

/** Whether a point of the screen is within the box around an element.
 * @type {(element: Element, x: number, y: number) => boolean} */
function isWithin(element, x, y) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return x >= left && x <= right && y >= top && y <= bottom;
}

/** The list of pieces. A piece on the board leaves its outline in its slot. */
export class Tray {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.slots = /** @type {Fabkit.FullMap<number, ReturnType<Tray["slot"]>>} */ (new Map());
    /** @type {Game} */
    this.game; // set by `open`
  }

  /** Shows the pieces of a challenge, without the given ones.
   * @type {(game: Game) => void} */
  open(game) {
    this.game = game;
    const pieces = [...game.placements.keys()].filter((piece) => !game.fixed.has(piece));
    pieces.sort((first, second) => this.reach(second) - this.reach(first)); // so that rows have similar heights
    this.slots = /** @type {typeof this.slots} */ (
      new Map(pieces.map((piece) => [piece, this.slot(piece)]))
    );
    const items = [...this.slots].map(([piece, { button, trace }]) => {
      const item = html("li", {}, trace, button);
      item.style.setProperty("--reach", String(this.reach(piece)));
      return item;
    });
    this.element.replaceChildren(...items);
  }

  /** @param {number} piece */
  slot(piece) {
    const group = svg("g", { class: "piece" });
    const left = svg("path");
    const half = (this.reach(piece) * UNIT) / 2 + 4;
    const box = [-half, -half, 2 * half, 2 * half].join(" ");
    const drawing = svg("svg", { viewBox: box, "aria-hidden": "true" }, group);
    const trace = svg("svg", { viewBox: box, "aria-hidden": "true", class: "trace" }, left);
    const button = html("button", { type: "button", className: "slot" }, drawing);
    button.dataset.piece = this.game.data.pieces[piece].id;
    return { button, group, trace, left };
  }

  /** The longest side of a piece in grid units, in any orientation.
   * @param {number} piece */
  reach(piece) {
    const { grid } = this.game;
    const sides = this.game
      .orientations(piece)
      .slice(0, this.game.count(piece))
      .flatMap((_, orientation) => {
        const [left, bottom, right, top] = this.game.shape(piece, orientation).box;
        const [width, height] = grid.toDrawing(right - left, bottom - top);
        return [width / UNIT, height / UNIT];
      });
    return Math.max(...sides);
  }

  /** Updates which pieces are in the tray, and their orientations.
   * @type {(name: (piece: number) => string, selected: number | null) => void} */
  update(name, selected) {
    for (const [piece, { button, group, left: outline }] of this.slots) {
      const { orientation, at } = this.game.placements.get(piece);
      button.classList.toggle("gone", Boolean(at));
      button.classList.toggle("selected", piece === selected);
      if (redrawPiece(group, this.game, piece, orientation)) {
        const { box, rings } = this.game.shape(piece, orientation);
        const [left, bottom, right, top] = box;
        const [x, y] = this.game.grid.toDrawing((left + right) / 2, (bottom + top) / 2);
        outline.setAttribute("d", this.game.grid.path(rings));
        for (const drawn of [group, outline]) {
          drawn.setAttribute("transform", `translate(${-x} ${-y})`);
        }
      }
      button.setAttribute("aria-label", name(piece));
    }
  }
}
