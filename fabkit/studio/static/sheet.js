// @ts-check
// A sheet of cells of any lattice on which to paint: with pointer and keyboard, cell by cell, or whole
// shapes to be moved, turned and turned over.
import { svg, viewBox } from "./play-draw.js";
import { boxOf, key, UNIT } from "./play-grid.js";

/** @typedef {import("./lattice.js").Lattice} Lattice */
/** @typedef {import("./lattice.js").Cell} Cell */
/** What is painted: by the key of each cell, the letter of what it belongs to.
 * @typedef {Map<number, string>} Painting */
/** @typedef {{ fill: string, ink: string, text: string }} Look */
/** @typedef {{ cell: Cell, key: number, path: SVGElement, centre: number[], address: number[] }} Spot */

/** The smallest sheet, in rows and columns. */
const MIN_PLACES = 8;
/** The free places around what is painted. */
const MARGIN = 2;
/** A sheet with more cells has no more room than its drawing takes. */
const MAX_CELLS = 2500;
/** Keys that move the cursor: right and up, in the drawing's directions. */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Fires `painted` after a change by a person, `cancelled` when one is given up, `stamp` when a cell is chosen with that tool, and `cursor`
 * when another cell has the cursor. */
export class Sheet extends EventTarget {
  /** @param {SVGSVGElement} element */
  constructor(element) {
    super();
    this.element = element;
    /** @type {Painting} */
    this.painting = new Map();
    /** The painting before the stroke or move that goes on.
     * @type {Painting} */
    this.before = new Map();
    /** The letter to paint; empty to erase. */
    this.brush = "";
    /** @type {"paint" | "move" | "stamp"} */
    this.tool = "paint";
    /** Whether all cells are one shape, whatever their letters. */
    this.isOneShape = false;
    /** Whether what has a letter takes a whole place of the lattice.
     * @type {(letter: string) => boolean} */
    this.takesPlace = () => false;
    /** Whether it can only be looked at. */
    this.isOff = false;
    /** Set by `load`, before anything else is asked.
     * @type {Lattice} */
    this.lattice;
    /** @type {(letter: string) => Look} */
    this.look = () => ({ fill: "", ink: "", text: "" });
    /** @type {(sheet: Sheet) => SVGElement[]} */
    this.details = () => [];
    /** @type {Spot[]} */
    this.spots = [];
    /** @type {Map<number, Spot>} */
    this._byKey = new Map();
    /** @type {Map<unknown, Spot>} */
    this._byPath = new Map();
    this._over = svg("g", { class: "sheet-over" });
    this._mark = svg("path", { class: "sheet-cursor" });
    /** Where the cells of a shape went that has just been moved.
     * @type {[from: Cell, to: Cell][]} */
    this.moves = [];
    /** @type {Spot | null} */
    this.cursor = null;
    /** A stroke, or a shape that is carried.
     * @type {null | { erases: boolean, last: Spot } | { carried: [Cell, string][], lifted: Cell[], from: Cell, step: Cell }} */
    this.hand = null;
    element.addEventListener("pointerdown", (event) => this._press(event));
    element.addEventListener("pointermove", (event) => this._drag(event));
    element.addEventListener("pointerup", () => this._release());
    element.addEventListener("pointercancel", () => this._cancel());
    element.addEventListener("keydown", (event) => this._key(event));
    element.addEventListener("focus", () => this._markCursor());
    element.addEventListener("blur", () => {
      if (this._isCarried()) this._release();
      this._markCursor();
    });
  }

  /** Shows a painting, centred on a sheet with room around it.
   * @param {Lattice} lattice
   * @param {Painting} painting
   * @param {Cell[]} cells those that are painted
   * @param {(letter: string) => Look} look
   * @param {(sheet: Sheet) => SVGElement[]} details what stands on the cells */
  load(lattice, painting, cells, look, details = () => []) {
    const isSame =
      this.lattice === lattice &&
      this.spots.length > 0 &&
      cells.every((cell) => this._byKey.has(key(...cell)));
    Object.assign(this, { lattice, look, details });
    this.painting = new Map(painting);
    this.hand = null;
    if (!isSame || this._isTight()) this._layOut(cells);
    this.draw();
  }

  /** The cells that are painted, with their letters.
   * @returns {[Cell, string][]} */
  get drawn() {
    return this.spots
      .filter((spot) => this.painting.has(spot.key))
      .map((spot) => [spot.cell, this.painting.get(spot.key) ?? ""]);
  }

  /** Makes the cells of the sheet: all places around some cells.
   * @param {Cell[]} cells */
  _layOut(cells) {
    const { lattice } = this;
    const addresses = cells.map((cell) => lattice.address(cell));
    const [rows, columns] = [0, 1].map((axis) => {
      const period = axis ? lattice.columns.length : 1;
      const values = addresses.map((address) => address[axis]);
      const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, -1];
      const free = Math.max(
        MARGIN * period,
        Math.ceil((MIN_PLACES * period - (high - low + 1)) / 2),
      );
      const limit = Math.floor(Math.sqrt(MAX_CELLS / lattice.perPlace)) * period;
      const room = Math.max(0, Math.min(free, Math.floor((limit - (high - low + 1)) / 2)));
      return Array.from({ length: high - low + 1 + 2 * room }, (_, i) => low - room + i);
    });
    this.spots = rows.flatMap((row) =>
      columns.flatMap((column) =>
        lattice.cellsAt(row, column).map((cell, k) => {
          const corners = lattice.grid.cornersOf(cell).flat();
          const place = lattice.perPlace > 1 ? [row, column, k] : [row, column];
          const path = svg("path", {
            d: lattice.grid.path([corners]),
            class: "sheet-cell",
            "data-cell": place.join(),
          });
          const centre = lattice.grid.toDrawing(...cell);
          return { cell, key: key(...cell), path, centre, address: [row, column, k] };
        }),
      ),
    );
    this._byKey = new Map(this.spots.map((spot) => [spot.key, spot]));
    this._byPath = new Map(this.spots.map((spot) => [spot.path, spot]));
    const box = boxOf(this.spots.map((spot) => lattice.grid.cornersOf(spot.cell).flat()));
    this.element.setAttribute("viewBox", viewBox(lattice.grid, box, 8).join(" "));
    this.element.replaceChildren(...this.spots.map(({ path }) => path), this._over, this._mark);
    const sameSpot = this.cursor && this._byKey.get(this.cursor.key);
    this.cursor = sameSpot ?? this.spots[Math.floor(this.spots.length / 2)];
  }

  /** Whether what is painted comes so near to the edge that there is hardly room beside it. */
  _isTight() {
    const [rows, columns] = [0, 1].map((axis) => this.spots.map(({ address }) => address[axis]));
    const ends = [
      [Math.min(...rows), Math.max(...rows)],
      [Math.min(...columns), Math.max(...columns)],
    ];
    return this.spots.some(
      (spot) =>
        this.painting.has(spot.key) &&
        ends.some((limits, axis) => limits.includes(spot.address[axis])),
    );
  }

  /** Colours the cells, and draws the lines between shapes. */
  draw() {
    const lines = [];
    const carried = this._isCarried() ? this._carriedPainting() : null;
    const letterOf = (/** @type {number} */ cellKey) =>
      carried?.get(cellKey) ?? this.painting.get(cellKey);
    /** @type {Map<string, string>} */
    const owners = new Map();
    for (const { cell, key: cellKey, path } of this.spots) {
      const letter = letterOf(cellKey);
      path.style.fill = letter === undefined ? "" : this.look(letter).fill;
      path.dataset.letter = letter ?? "";
      path.classList.toggle("carried", Boolean(carried?.has(cellKey)));
      for (const [from, to] of this.lattice.grid.edgesOf(cell)) {
        const back = `${to} ${from}`;
        const other = owners.get(back);
        owners.set(`${from} ${to}`, letter ?? "");
        if (other !== undefined && other !== (letter ?? "")) lines.push([from, to]);
      }
    }
    const toText = (/** @type {number[]} */ point) =>
      this.lattice.grid.toDrawing(point[0], point[1]).join(" ");
    const d = lines.map(([from, to]) => `M${toText(from)}L${toText(to)}`).join("");
    this._over.replaceChildren(
      svg("path", { d, class: "sheet-line" }),
      ...this._letters(letterOf),
      ...this.details(this),
    );
    this._markCursor();
  }

  /** A letter on the cell nearest to the middle of each shape, or on each place that a mark takes.
   * @param {(cellKey: number) => string | undefined} letterOf by the keys of cells */
  _letters(letterOf) {
    /** @type {Map<string, Spot[]>} */
    const shapes = new Map();
    for (const spot of this.spots) {
      const letter = letterOf(spot.key);
      if (letter === undefined || !this.look(letter).text) continue;
      const name = this.isOneShape ? spot.address.slice(0, 2).join() : letter;
      shapes.set(name, [...(shapes.get(name) ?? []), spot]);
    }
    return [...shapes.values()].map((spots) => {
      const middle = [0, 1].map(
        (axis) => spots.reduce((sum, spot) => sum + spot.centre[axis], 0) / spots.length,
      );
      const distance = (/** @type {Spot} */ { centre }) =>
        Math.hypot(centre[0] - middle[0], centre[1] - middle[1]);
      const central = spots.reduce((nearest, spot) =>
        distance(spot) < distance(nearest) - 1e-6 ? spot : nearest,
      );
      const { text, ink } = this.look(letterOf(central.key) ?? "");
      const size = (this.lattice.perPlace > 1 && !this.isOneShape ? 0.24 : 0.42) * UNIT;
      const [x, y] = this.isOneShape ? middle : central.centre;
      const place = { x, y, dy: "0.357em", "font-size": size, fill: ink, class: "letter" };
      const element = svg("text", place);
      element.textContent = text;
      return element;
    });
  }

  _markCursor() {
    const isSeen =
      this.cursor &&
      document.activeElement === this.element &&
      this.element.matches(":focus-visible");
    this._mark.setAttribute(
      "d",
      isSeen && this.cursor
        ? this.lattice.grid.path([this.lattice.grid.cornersOf(this.cursor.cell).flat()])
        : "",
    );
  }

  // --- painting ---

  /** @param {Spot} spot
   * @param {boolean} erases */
  _paint({ key: own, address: [row, column] }, erases) {
    const letter = erases ? "" : this.brush;
    const takesPlace = [letter, this.painting.get(own) ?? ""].some(
      (drawn) => drawn && this.takesPlace(drawn),
    );
    for (const target of takesPlace
      ? this.lattice.cellsAt(row, column).map((cell) => key(...cell))
      : [own]) {
      if (letter) this.painting.set(target, letter);
      else this.painting.delete(target);
    }
  }

  /** The spot under a pointer.
   * @param {{ clientX: number, clientY: number }} event */
  _spotAt({ clientX, clientY }) {
    return this._byPath.get(
      document.elementsFromPoint(clientX, clientY).find((element) => this._byPath.has(element)),
    );
  }

  /** @param {PointerEvent} event */
  _press(event) {
    if (event.button || this.hand || this.isOff) return;
    const spot = this._spotAt(event);
    if (!spot) return;
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    this.cursor = spot;
    if (this.tool === "stamp") {
      this.dispatchEvent(new Event("stamp"));
      return;
    }
    if (this.tool === "move") {
      if (this.painting.has(spot.key)) this._lift(spot);
    } else {
      const erases = !this.brush || this.painting.get(spot.key) === this.brush;
      this.before = new Map(this.painting);
      this.hand = { erases, last: spot };
      this._paint(spot, erases);
    }
    this.draw();
  }

  /** @param {PointerEvent} event */
  _drag(event) {
    const { hand } = this;
    if (!hand) return;
    const positions = [...(event.getCoalescedEvents?.() ?? []), event];
    if ("carried" in hand) {
      const spot = this._spotAt(event);
      if (spot && this._carryTo(spot.cell)) this.cursor = spot;
      return;
    }
    for (const position of positions) {
      const spot = this._spotAt(position);
      if (!spot || spot === hand.last) continue;
      this._paint(spot, hand.erases);
      hand.last = this.cursor = spot;
    }
    this.draw();
  }

  _release() {
    const { hand } = this;
    if (!hand) return;
    if ("carried" in hand) this._drop();
    this.hand = null;
    this._finish();
  }

  _cancel() {
    if (!this.hand) return;
    this.painting = this.before;
    this.hand = null;
    this.draw();
    this.dispatchEvent(new Event("cancelled"));
  }

  /** After a change by a person: makes room where there is hardly any, and reports. */
  _finish() {
    if (this._isTight()) this._layOut(this.drawn.map(([cell]) => cell));
    this.draw();
    this.dispatchEvent(new Event("painted"));
    this.moves = [];
  }

  // --- moving shapes ---

  /** Whether a stroke goes on. */
  get isPainting() {
    return this.hand !== null && !this._isCarried();
  }

  _isCarried() {
    return this.hand !== null && "carried" in this.hand;
  }

  /** Takes up the shape to which a cell belongs.
   * @param {Spot} spot */
  _lift(spot) {
    const letter = this.painting.get(spot.key);
    this.before = new Map(this.painting);
    const carried = this.drawn.filter(([, other]) => this.isOneShape || other === letter);
    for (const [cell] of carried) this.painting.delete(key(...cell));
    this.hand = { carried, lifted: carried.map(([cell]) => cell), from: spot.cell, step: [0, 0] };
  }

  /** Moves the carried shape with the cell under the pointer; returns whether it stays on the sheet.
   * @param {Cell} cell */
  _carryTo(cell) {
    const { hand } = this;
    if (!hand || !("carried" in hand)) return false;
    const [x, y] = this.lattice.grid.nearestStep(cell[0] - hand.from[0], cell[1] - hand.from[1]);
    if (!this._fits(hand.carried, [x, y])) return false;
    const isMoved = x !== hand.step[0] || y !== hand.step[1];
    hand.step = [x, y];
    if (isMoved) this.draw();
    return true;
  }

  /** Whether a carried shape stays on the sheet.
   * @param {[Cell, string][]} carried
   * @param {Cell} step */
  _fits(carried, [x, y]) {
    return carried.every(([cell]) => this._byKey.has(key(cell[0] + x, cell[1] + y)));
  }

  _carriedPainting() {
    const {
      carried,
      step: [x, y],
    } = /** @type {any} */ (this.hand);
    return new Map(
      carried.map((/** @type {[Cell, string]} */ [cell, letter]) => [
        key(cell[0] + x, cell[1] + y),
        letter,
      ]),
    );
  }

  _drop() {
    for (const [cell, letter] of this._carriedPainting()) this.painting.set(cell, letter);
    const {
      carried,
      lifted,
      step: [x, y],
    } = /** @type {any} */ (this.hand);
    this.moves = lifted.map((/** @type {Cell} */ from, /** @type {number} */ i) => [
      from,
      [carried[i][0][0] + x, carried[i][0][1] + y],
    ]);
  }

  /** Turns a shape by the lattice's smallest angle, or turns it over: the carried one, or that under the
   * cursor.
   * @param {"left" | "right" | "flip"} way */
  turn(way) {
    const wasCarried = this._isCarried();
    if (this.isOff) return;
    if (!wasCarried) {
      if (!this.cursor || !this.painting.has(this.cursor.key)) return;
      this._lift(this.cursor);
    }
    const hand = /** @type {any} */ (this.hand);
    const turnCount = { left: 1, right: this.lattice.turns - 1, flip: 0 }[way];
    const symmetry = this.lattice.symmetries.find(
      ({ turns, flipped }) => turns === turnCount && flipped === (way === "flip"),
    );
    const cells = this.lattice.turned(
      hand.carried.map((/** @type {[Cell, string]} */ [cell]) => cell),
      /** @type {any} */ (symmetry),
    );
    const turned = hand.carried.map(
      (/** @type {[Cell, string]} */ [, letter], /** @type {number} */ i) => [cells[i], letter],
    );
    if (this._fits(turned, hand.step)) {
      // The cursor stays on its cell of the shape.
      const [x, y] = hand.step;
      const place = hand.carried.findIndex(
        (/** @type {[Cell, string]} */ [cell]) =>
          key(cell[0] + x, cell[1] + y) === this.cursor?.key,
      );
      if (place >= 0)
        this.cursor = this._byKey.get(key(cells[place][0] + x, cells[place][1] + y)) ?? null;
      hand.carried = turned;
    }
    if (wasCarried) this.draw();
    else this._release();
  }

  // --- keyboard ---

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.cursor || this.isOff) return;
    const arrow = ARROWS[/** @type {keyof typeof ARROWS} */ (event.key)];
    const actions = /** @type {Record<string, () => void>} */ ({
      " ": () => this._keyPaint(),
      Enter: () => this._keyPaint(),
      r: () => this.turn(event.shiftKey ? "left" : "right"),
      f: () => this.turn("flip"),
      m: () => this._keyMove(),
      Escape: () => this._cancel(),
      Delete: () => this._keyErase(),
      Backspace: () => this._keyErase(),
    });
    const action = arrow
      ? () => this._step(arrow, event.shiftKey)
      : actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (event.key === "Escape" && !this.hand)) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  /** Moves the cursor to the next cell in a direction; painting on the way with Shift.
   * @param {number[]} direction
   * @param {boolean} paints */
  _step([right, down], paints) {
    const cursor = /** @type {Spot} */ (this.cursor);
    let nearest = null;
    let lowestCost = Infinity;
    for (const spot of this.spots) {
      const [x, y] = [spot.centre[0] - cursor.centre[0], spot.centre[1] - cursor.centre[1]];
      const along = x * right + y * down;
      const aside = Math.abs(x * down) + Math.abs(y * right);
      if (along < 1 || aside > along * 1.8) continue;
      const cost = along + 2 * aside;
      if (cost < lowestCost - 1e-6) [nearest, lowestCost] = [spot, cost];
    }
    if (!nearest) return void this.dispatchEvent(new Event("cursor"));
    this.cursor = nearest;
    if (this._isCarried()) {
      this._carryTo(nearest.cell);
    } else if (paints) {
      this._paint(nearest, false);
      this._finish();
    }
    this._markCursor();
    this.dispatchEvent(new Event("cursor"));
  }

  _keyPaint() {
    if (this._isCarried()) return this._release();
    if (this.tool === "stamp") return this.dispatchEvent(new Event("stamp"));
    const cursor = /** @type {Spot} */ (this.cursor);
    this._paint(cursor, !this.brush || this.painting.get(cursor.key) === this.brush);
    this._finish();
    this.dispatchEvent(new Event("cursor"));
  }

  _keyErase() {
    if (this._isCarried()) return;
    this._paint(/** @type {Spot} */ (this.cursor), true);
    this._finish();
    this.dispatchEvent(new Event("cursor"));
  }

  _keyMove() {
    if (this._isCarried()) return this._release();
    const cursor = /** @type {Spot} */ (this.cursor);
    if (!this.painting.has(cursor.key)) return;
    this._lift(cursor);
    this.draw();
  }
}
