// @ts-check
// The view to draw: pieces, boards, or a board that is cut into its pieces; beside it what it comes to.

import { Brushes } from "./brushes.js";
import { Drawings, drawnBy, isSamePlace, NOTHING, PLAIN, placeOf, SIGNS } from "./drawings.js";
import { middle } from "./lattice.js";
import { formatMessage, html, svg } from "./play-draw.js";
import { key } from "./play-grid.js";
import { Sheet } from "./sheet.js";
import { TextView } from "./text.js";
import { ThingList } from "./things.js";
import { Verdict } from "./verdict.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {import("./lattice.js").Cell} Cell */
/** @typedef {import("./drawings.js").Place} Place */
/** @typedef {import("./drawings.js").Thing} Thing */

/** @param {Studio} studio
 * @param {HTMLElement} section */
export const start = (studio, section) => new DrawView(studio, section);

class DrawView {
  /** @param {Studio} studio
   * @param {HTMLElement} section */
  constructor(studio, section) {
    this.studio = studio;
    this.project = studio.project;
    this.element = /** @type {SVGSVGElement} */ (
      svg("svg", { class: "sheet", tabindex: "0", role: "application" })
    );
    this.keys = html("p", { className: "quiet sheet-keys" });
    this.faults = html("ul", { className: "faults" });
    this.drawings = new Drawings(studio, (reason) => this.refuse(reason));
    this.sheet = new Sheet(this.element);
    this.brushes = new Brushes(this.drawings, this.sheet);
    this.list = new ThingList(this.drawings);
    this.verdict = new Verdict(studio);
    this.textView = new TextView(studio);
    section.classList.add("draw");
    section.append(
      this.list.element,
      html(
        "div",
        { className: "draw-middle" },
        this.brushes.element,
        this.faults,
        this.element,
        this.keys,
      ),
      html("div", { className: "draw-side" }, this.verdict.element, this.textView.element),
    );
    /** What is drawn, as it was last read. */
    this.thing = NOTHING;
    /** Where what is drawn stands on the sheet, by how the file draws it: undoing puts it back there.
     * @type {Map<string, Cell>} */
    this.steps = new Map();
    /** How the file draws what is on the sheet. */
    this.shown = "";
    /** What that is.
     * @type {Place} */
    this.shownPlace = NOTHING;
    /** Texts, and what must cover cells, by the keys of cells on the sheet.
     * @type {Map<number, string>} */
    this.labels = new Map();
    /** @type {Map<number, any>} */
    this.clues = new Map();
    /** Why a change was not made, the key of a message, and the state in which it was not. */
    this.refusal = "";
    this.refusedState = this.project.state;
    /** Which opening of a set is shown, to begin anew with the next. */
    this.opening = 0;
    this.sheet.addEventListener("painted", () => this.write());
    this.sheet.addEventListener("cancelled", () => this.update());
    this.sheet.addEventListener("stamp", () => this.stamp());
    this.sheet.addEventListener("cursor", () => this.announceCursor());
    this.element.addEventListener("keydown", (event) => this.brushes.chooseByKey(event));
    this.list.addEventListener("choose", (event) => {
      this.begin(/** @type {CustomEvent} */ (event).detail);
      this.update();
    });
    this.list.addEventListener("add", (event) =>
      this.begin(this.find(/** @type {CustomEvent} */ (event).detail)),
    );
    this.project.addEventListener("change", () => this.update());
    document.addEventListener("fabkit:language", () => this.update());
    this.update();
  }

  get lattice() {
    return this.studio.lattice;
  }

  /** Begins to draw a thing.
   * @param {Thing} thing */
  begin(thing) {
    this.thing = thing;
    this.refusal = "";
    this.brushes.use(thing);
  }

  /** A thing as it is read now.
   * @param {Place} place
   * @returns {Thing} */
  find(place) {
    return this.drawings.things.find((thing) => isSamePlace(thing, place)) ?? NOTHING;
  }

  update() {
    const { project, drawings } = this;
    const { things } = drawings;
    if (this.sheet.isPainting) return; // nothing moves under the pointer
    // A text that is not TOML has no tables to draw.
    if (things.length) {
      if (this.opening !== project.opening) {
        this.opening = project.opening;
        this.steps.clear();
        this.textView.isTyped = false;
        this.begin(things[0]);
      }
      if (things.some((thing) => isSamePlace(thing, this.thing)))
        this.thing = this.find(this.thing);
      else this.begin(things.findLast(({ kind }) => kind === this.thing.kind) ?? things[0]);
      // What is being written is on the sheet, and not yet in the file.
      if (project.isRead || !isSamePlace(this.thing, this.shownPlace)) this.load();
      this.list.show(this.thing);
      this.brushes.show(this.thing);
      this.element.ariaLabel = this.studio.text("draw_sheet", {
        name: drawings.nameOf(this.thing),
      });
      this.keys.textContent = this.studio.text("draw_keys");
    } else if (!this.shown) this.load();
    this.sheet.isOff = !(project.isToml && this.thing.canPaint);
    this.element.classList.toggle("off", this.sheet.isOff);
    this.showFaults();
    this.verdict.update();
    this.textView.update();
  }

  /** How the file draws a thing, as a text to compare.
   * @param {Thing} thing */
  signature({ kind, index, cells, letters, labels, clues }) {
    return JSON.stringify([this.lattice.name, kind, index, cells, letters, labels, clues]);
  }

  /** How far what the file draws stands from there on the sheet.
   * @param {Thing} thing
   * @returns {Cell} */
  stepOf(thing) {
    return this.steps.get(this.signature(thing)) ?? [0, 0];
  }

  /** Puts what the file draws onto the sheet, unless it is there. */
  load() {
    const { thing, drawings, sheet } = this;
    const signature = this.signature(thing);
    if (signature === this.shown) return sheet.draw();
    this.shown = signature;
    this.shownPlace = placeOf(thing);
    const drawn = this.onSheet(thing);
    sheet.isOneShape = thing.kind !== "cut";
    sheet.takesPlace = (letter) => this.thing.kind === "piece" && letter !== PLAIN;
    sheet.load(
      this.lattice,
      new Map(drawn.map(([cell, letter]) => [key(...cell), letter])),
      drawn.map(([cell]) => cell),
      (letter) => drawings.look(this.thing, letter),
      () => this.details(),
    );
    this.brushes.adapt(thing);
  }

  /** What a thing draws, where it stands on the sheet; takes its texts and clues.
   * @param {Thing} thing */
  onSheet(thing) {
    const [dx, dy] = this.stepOf(thing);
    const drawn = drawnBy(thing).map(
      ([[x, y], letter]) => /** @type {[Cell, string]} */ ([[x + dx, y + dy], letter]),
    );
    const keys = drawn.map(([cell]) => key(...cell));
    const { labels, clues } = thing;
    this.labels = new Map(keys.flatMap((own, i) => (labels[i] ? [[own, labels[i]]] : [])));
    this.clues = new Map(keys.flatMap((own, i) => (clues[i] ? [[own, clues[i]]] : [])));
    return drawn;
  }

  /** Draws the thing in the file as it is on the sheet. */
  write() {
    const { drawn, moves } = this.sheet;
    const cells = drawn.map(([cell]) => cell);
    this.brushes.show(this.thing);
    this.edit("draw", { cells, letters: drawn.map(([, letter]) => letter), moves });
  }

  /** Puts a text or a clue on the cell of the cursor, or takes it away. */
  stamp() {
    const { brushes, sheet } = this;
    const { cursor } = sheet;
    if (!cursor || !brushes.stamp || !sheet.painting.has(cursor.key)) return;
    const { cell } = cursor;
    const value = brushes.values[brushes.stamp];
    const stamped = brushes.stamp === "clue" ? JSON.parse(value || "{}") : value;
    this.edit("stamp", { cell, stamped });
    if (value && this.labels.get(cursor.key) !== value) brushes.countUp();
  }

  /** Changes what is drawn; what the sheet shows is then in the file, or else taken back.
   * @param {string} command
   * @param {object} values */
  async edit(command, values) {
    const place = placeOf(this.thing);
    let step = this.stepOf(this.thing);
    const argumentsOf = () => {
      step = this.stepOf(this.find(place)); // others may have been made meanwhile
      return { thing: place, step, ...values };
    };
    const isDone = await this.drawings.edit(command, argumentsOf, (outcome) => {
      const thing = this.find(place);
      this.steps.set(this.signature(thing), outcome.step ?? step);
      if (!isSamePlace(place, this.shownPlace)) return;
      this.shown = this.signature(thing);
      this.onSheet(thing);
    });
    if (isDone) return;
    this.shown = "";
    this.update();
  }

  /** Says why a change is not made, and shows what the file has.
   * @param {string} reason the key of a message */
  refuse(reason) {
    Object.assign(this, { refusal: reason, refusedState: this.project.state });
    this.update();
    this.studio.announce(this.studio.text(reason));
  }

  /** What stands on the cells of a board: texts, and clues on what must cover them.
   * @returns {SVGElement[]} */
  details() {
    const { drawings, lattice, labels, clues } = this;
    const size = lattice.perPlace > 1 ? 18 : 30;
    const letter = (
      /** @type {number[]} */ [x, y],
      /** @type {number} */ height,
      /** @type {string} */ fill,
      /** @type {string} */ textContent,
    ) => {
      const element = svg("text", {
        x,
        y,
        dy: "0.357em",
        "font-size": height,
        fill,
        class: "letter",
      });
      return Object.assign(element, { textContent });
    };
    /** Places whose text is drawn.
     * @type {Set<string>} */
    const labelled = new Set();
    return this.sheet.spots.flatMap(({ key: own, centre, address: [row, column] }) => {
      const clue = clues.get(own);
      if (clue) {
        const { piece, mark, colour } = clue;
        const shape = drawings.pieceShape(piece);
        const fill = colour ?? shape?.colour ?? "var(--paper)";
        const disc = svg("circle", {
          cx: centre[0],
          cy: centre[1],
          r: size,
          fill,
          class: "sheet-clue",
        });
        const sign = mark ? (SIGNS[drawings.marks[mark]] ?? mark) : "";
        return [disc, letter(centre, size, shape?.ink ?? "var(--ink)", shape?.label ?? sign)];
      }
      const text = labels.get(own);
      if (!text || labelled.has(`${row} ${column}`)) return [];
      labelled.add(`${row} ${column}`);
      const points = lattice.cellsAt(row, column).map((cell) => lattice.grid.toDrawing(...cell));
      return [letter(middle(points), Math.min(size, 110 / text.length), "var(--ink)", text)];
    });
  }

  /** Says where the cursor is, for people who do not see it. */
  announceCursor() {
    const { cursor, painting } = this.sheet;
    if (!cursor) return;
    const letter = painting.get(cursor.key);
    const content =
      letter === undefined
        ? this.studio.text("draw_nothing")
        : this.thing.kind === "cut"
          ? letter
          : this.studio.text("draw_filled");
    const numbers = this.lattice.perPlace > 1 ? cursor.address : cursor.address.slice(0, 2);
    const place = numbers.map((number) => number + 1).join(", ");
    this.studio.announce(formatMessage("{place}: {content}", { place, content }));
  }

  showFaults() {
    const { project, drawings, thing } = this;
    const isAlone = drawings.things.length === 1 && thing.kind === "cut";
    const isEmpty = isAlone && !this.sheet.drawn.length;
    const refusal = this.refusedState === project.state ? this.refusal : "";
    const hint = isEmpty ? "draw_empty" : thing.isOfBalls ? "draw_balls" : refusal;
    const messages = isEmpty || !project.isToml ? [] : thing.faults;
    const texts = hint ? [this.studio.text(hint), ...messages] : messages;
    this.faults.classList.toggle("hint", Boolean(hint));
    this.faults.replaceChildren(...texts.map((textContent) => html("li", { textContent })));
  }
}
