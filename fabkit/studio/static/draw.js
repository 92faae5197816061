// @ts-check
// The view to draw: pieces, boards, or a board that is cut into its pieces; beside it what it comes to.

import { Brushes } from "./brushes.js";
import { Details } from "./details.js";
import { CUT, DRAWN_BY, Drawings, isSameThing, PLAIN } from "./drawings.js";
import { difference, movement, normalized, notation } from "./lattice.js";
import { formatMessage, html, svg } from "./play-draw.js";
import { key } from "./play-grid.js";
import { movePlaces } from "./references.js";
import { Sheet } from "./sheet.js";
import { TextView } from "./text.js";
import { ThingList } from "./things.js";
import { Verdict } from "./verdict.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {import("./lattice.js").Cell} Cell */
/** @typedef {import("./drawings.js").Drawn} Drawn */
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
    this.drawings = new Drawings(studio);
    this.details = new Details(this.drawings);
    this.sheet = new Sheet(this.element);
    this.brushes = new Brushes(this.drawings, this.sheet, (reason) => this.refuse(reason));
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
    /** What is on the sheet. */
    this.thing = CUT;
    /** Where what is drawn stands on the sheet, by how the file draws it: undoing puts it back there.
     * @type {Map<string, Cell>} */
    this.steps = new Map();
    /** How the file draws what is on the sheet. */
    this.shown = "";
    /** What is being written to the file.
     * @type {Drawn | null} */
    this.written = null;
    /** Why a change was not made, the key of a message, and the state in which it was not. */
    this.refusal = "";
    this.refusedState = this.project.state;
    /** Which opening of a set is shown, to begin anew with the next. */
    this.opening = 0;
    this.sheet.addEventListener("painted", () => this.write());
    this.sheet.addEventListener("stamp", () => this.stamp());
    this.sheet.addEventListener("cursor", () => this.announceCursor());
    this.element.addEventListener("keydown", (event) => this.brushes.chooseByKey(event));
    this.list.addEventListener("choose", (event) => {
      this.begin(/** @type {CustomEvent} */ (event).detail);
      this.update();
    });
    this.list.addEventListener("add", (event) =>
      this.begin(/** @type {CustomEvent} */ (event).detail),
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

  update() {
    const {
      project,
      drawings: { things },
    } = this;
    if (this.opening !== project.opening && project.isRead) {
      this.opening = project.opening;
      this.steps.clear();
      this.begin(things[0]);
    }
    if (project.document && !things.some((thing) => isSameThing(thing, this.thing))) {
      this.begin(things.findLast(({ kind }) => kind === this.thing.kind) ?? things[0]);
    }
    this.sheet.isOff = !this.drawings.canPaint(this.thing);
    this.element.classList.toggle("off", this.sheet.isOff);
    // A text that is not TOML has no tables to draw.
    if (project.document || !this.shown) this.load();
    if (project.document) {
      this.list.show(this.thing);
      this.brushes.show(this.thing);
      this.element.ariaLabel = this.studio.text("draw_sheet", {
        name: this.drawings.nameOf(this.thing),
      });
      this.keys.textContent = this.studio.text("draw_keys");
    }
    this.showFaults();
    this.verdict.update();
    this.textView.update();
  }

  /** Puts what the file draws onto the sheet, unless it is there. */
  load() {
    const { thing, drawings, sheet } = this;
    if (this.written) this.remember(this.written);
    const signature = drawings.signature(thing);
    if (signature === this.shown) return sheet.draw();
    this.shown = signature;
    const [dx, dy] = this.stepToSheet;
    const onSheet = (/** @type {Cell} */ [x, y]) => /** @type {Cell} */ ([x + dx, y + dy]);
    const drawn = drawings
      .drawn(thing)
      .map(([cell, letter]) => /** @type {const} */ ([onSheet(cell), letter]));
    this.details.read(thing, onSheet);
    sheet.isOneShape = thing.kind !== "cut";
    sheet.takesPlace = (letter) => thing.kind === "piece" && letter !== PLAIN;
    const painting = new Map(drawn.map(([cell, letter]) => [key(...cell), letter]));
    const details = () => (thing.kind === "board" ? this.details.draw(sheet.spots) : []);
    sheet.load(
      this.lattice,
      painting,
      drawn.map(([cell]) => cell),
      (letter) => drawings.look(thing, letter),
      details,
    );
    this.brushes.adapt(thing);
  }

  /** How far what the file draws stands from there on the sheet. */
  get stepToSheet() {
    return this.steps.get(this.shown) ?? /** @type {Cell} */ ([0, 0]);
  }

  /** Draws the thing in the file as it is on the sheet. */
  write() {
    const { thing, lattice, drawings, stepToSheet } = this;
    const { drawn, moves } = this.sheet;
    const { rows, cells = {} } = drawn.length ? notation(lattice, drawn) : { rows: ["."] };
    const hasMarks = thing.kind === "piece" && drawn.some(([, letter]) => letter !== PLAIN);
    if (hasMarks && !rows) return this.takeBack("draw_marks_whole");
    this.details.move(moves);
    const details = thing.kind === "board" ? this.details.toTable(drawn) : {};
    this.written = drawn; // the file changes before `change` returns
    this.studio.attempt(() =>
      this.project.change((file) => {
        file.set ??= {
          name: this.project.name.replace(/\.toml$/, ""),
          lattice: lattice.name,
          moves: "rotations and flips",
        };
        if (thing.kind === "cut") file.cut ??= {};
        const table = drawings.table(thing, file);
        if (thing.kind === "cut")
          movePlaces(file, table.board ?? "board", this.redrawing(drawn, [], stepToSheet));
        if (thing.kind === "board")
          movePlaces(file, table.id, this.redrawing(drawn, moves, stepToSheet));
        for (const name of DRAWN_BY) delete table[name];
        if (rows) table.rows = rows;
        else
          table.cells =
            thing.kind === "cut"
              ? cells
              : Object.values(cells)
                  .flat()
                  .sort((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] ?? 0) - (b[2] ?? 0));
        if (table.colours) {
          const letters = new Set(drawn.map(([, letter]) => letter));
          for (const letter of Object.keys(table.colours))
            if (!letters.has(letter)) delete table.colours[letter];
        }
        for (const [name, value] of Object.entries(details)) {
          if (value) table[name] = value;
          else delete table[name];
        }
      }),
    );
    this.written = null;
    this.remember(drawn); // a shape that was moved is the same in the file
  }

  /** How the board of the file becomes the one on the sheet.
   * @param {Drawn} drawn
   * @param {[from: Cell, to: Cell][]} moves on the sheet
   * @param {Cell} stepToSheet
   * @returns {import("./references.js").Redrawing} */
  redrawing(drawn, moves, [dx, dy]) {
    const { lattice } = this;
    const before = this.drawings.drawn(this.thing).map(([cell]) => cell);
    const after = normalized(
      lattice,
      drawn.map(([cell]) => cell),
    );
    const stepBack = drawn.length
      ? difference(drawn[0][0], after[0])
      : /** @type {Cell} */ ([0, 0]);
    const moved = movement(lattice, moves);
    return {
      lattice,
      before,
      after,
      image: (point) => difference(moved(difference(point, [-dx, -dy])), stepBack),
    };
  }

  /** Remembers where on the sheet it stands, and that it is there.
   * @param {Drawn} drawn */
  remember(drawn) {
    this.shown = this.drawings.signature(this.thing);
    if (!drawn.length) return;
    const [first] = normalized(
      this.lattice,
      drawn.map(([cell]) => cell),
    );
    this.steps.set(this.shown, difference(drawn[0][0], first));
  }

  /** Takes back what was painted, since the file cannot hold it.
   * @param {string} reason the key of a message */
  takeBack(reason) {
    this.shown = "";
    this.refuse(reason);
  }

  /** Says why a change is not made, and shows what the file has.
   * @param {string} reason the key of a message */
  refuse(reason) {
    Object.assign(this, { refusal: reason, refusedState: this.project.state });
    this.update();
    this.studio.announce(this.studio.text(reason));
  }

  /** Puts a text or a clue on the cell of the cursor, or takes it away. */
  stamp() {
    const {
      brushes,
      sheet,
      sheet: { cursor },
    } = this;
    if (!cursor || !brushes.stamp || !sheet.painting.has(cursor.key)) return;
    if (this.details.stamp(brushes.stamp, cursor, brushes.values[brushes.stamp])) brushes.countUp();
    sheet.draw();
    this.write();
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
    const isEmpty =
      project.document &&
      !this.sheet.drawn.length &&
      drawings.things.length === 1 &&
      thing.kind === "cut";
    const refusal = this.refusedState === project.state ? this.refusal : "";
    const hint = isEmpty ? "draw_empty" : drawings.table(thing).balls ? "draw_balls" : refusal;
    const messages = isEmpty ? [] : drawings.faultsOf(thing).map(({ message }) => message);
    const texts = hint ? [this.studio.text(hint), ...messages] : messages;
    this.faults.classList.toggle("hint", Boolean(hint));
    this.faults.replaceChildren(...texts.map((textContent) => html("li", { textContent })));
  }
}
