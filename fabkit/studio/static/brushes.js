// @ts-check
// The brushes and tools above the sheet, beside the fields of what is drawn.

import { replaceContent } from "./content.js";
import { PLAIN, SIGNS } from "./drawings.js";
import { Fields, field } from "./fields.js";
import { html } from "./play-draw.js";

/** @typedef {import("./drawings.js").Drawings} Drawings */
/** @typedef {import("./drawings.js").Thing} Thing */
/** @typedef {import("./sheet.js").Sheet} Sheet */
/** @typedef {"label" | "clue"} Stamp */

export class Brushes {
  /** @param {Drawings} drawings
   * @param {Sheet} sheet */
  constructor(drawings, sheet) {
    this.drawings = drawings;
    this.sheet = sheet;
    this.fields = new Fields(drawings);
    this.element = html("div", { className: "brushes", role: "radiogroup" });
    /** What is stamped on the cells of a board, rather than painted.
     * @type {Stamp | ""} */
    this.stamp = "";
    /** What each stamp puts on a cell. */
    this.values = { label: "1", clue: "" };
  }

  /** @param {string} name
   * @param {Record<string, string | number>} [values] */
  text(name, values) {
    return this.drawings.studio.text(name, values);
  }

  /** Paints with a letter, by default the first of a thing.
   * @param {Thing} thing
   * @param {string} [letter] */
  use(thing, letter = thing.brushes[0]?.letter ?? "") {
    this.stamp = "";
    Object.assign(this.sheet, { tool: "paint", brush: letter });
  }

  /** Chooses the first brush of a thing if it no longer has the one that is used.
   * @param {Thing} thing */
  adapt(thing) {
    const { brush } = this.sheet;
    const letters = thing.brushes.map(({ letter }) => letter);
    if (brush && letters.length && !letters.includes(brush)) this.sheet.brush = letters[0];
  }

  /** Goes on after a text that was stamped: numbers count up. */
  countUp() {
    const { label } = this.values;
    if (this.stamp === "label" && /^\d+$/.test(label))
      this.values.label = String(Number(label) + 1);
  }

  /** @param {Thing} thing */
  show(thing) {
    this.element.ariaLabel = this.text("draw_brushes");
    replaceContent(this.element, "brush", () => this.toolsFor(thing));
  }

  /** The letters to paint; those of a cut board are the ones on the sheet, and one more.
   * @param {Thing} thing */
  offered({ kind, brushes }) {
    const used = new Set(this.sheet.painting.values());
    const next = brushes.find(({ letter }) => !used.has(letter));
    return kind === "cut" ? brushes.filter((b) => used.has(b.letter) || b === next) : brushes;
  }

  /** The brushes, tools and fields for a thing.
   * @param {Thing} thing
   * @returns {HTMLElement[]} */
  toolsFor(thing) {
    const { sheet, stamp } = this;
    const isPainting = sheet.tool === "paint" && !stamp;
    /** @type {(name: string, label: string, sign: string, isChosen: boolean, choose: () => void) => HTMLElement} */
    const radio = (name, label, sign, isChosen, choose) => {
      const button = this.button(name, label, sign, () => {
        choose();
        this.show(thing);
      });
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(isChosen));
      return button;
    };
    const take =
      (/** @type {Sheet["tool"]} */ tool, /** @type {Stamp | ""} */ taken = "") =>
      () => {
        this.stamp = taken;
        sheet.tool = tool;
      };
    const paints = this.offered(thing).map(({ letter }) => {
      const { fill, ink, text } = this.drawings.look(thing, letter);
      const button = radio(
        `brush-${letter}`,
        this.labelOf(thing, letter),
        text,
        isPainting && sheet.brush === letter,
        () => this.use(thing, letter),
      );
      button.style.setProperty("--colour", fill);
      button.style.color = ink;
      return button;
    });
    const stamps =
      thing.kind !== "board"
        ? []
        : [
            radio(
              "label",
              this.text("draw_label"),
              "12",
              stamp === "label",
              take("stamp", "label"),
            ),
            radio("clue", this.text("draw_clue"), "◉", stamp === "clue", take("stamp", "clue")),
          ];
    return [
      ...paints,
      radio("erase", this.text("draw_erase"), "⌫", isPainting && !sheet.brush, () =>
        this.use(thing, ""),
      ),
      radio("move", this.text("draw_move"), "✥", sheet.tool === "move", take("move")),
      ...stamps,
      ...this.turnButtons(),
      ...this.fields.of(thing, sheet.brush),
      ...(thing.kind === "piece" ? this.markField(thing) : this.stampField()),
    ];
  }

  /** @param {Thing} thing
   * @param {string} letter */
  labelOf(thing, letter) {
    if (thing.kind === "cut") return this.text("draw_brush", { letter });
    return letter === PLAIN ? this.text("draw_cell") : this.text("draw_mark", { letter });
  }

  /** @param {string} name
   * @param {string} label
   * @param {string} sign
   * @param {() => void} act */
  button(name, label, sign, act) {
    const button = html("button", {
      type: "button",
      className: "brush",
      textContent: sign,
      ariaLabel: label,
      title: label,
    });
    button.dataset.brush = name;
    button.addEventListener("click", act);
    return button;
  }

  turnButtons() {
    return /** @type {const} */ ([
      ["left", "⟲"],
      ["right", "⟳"],
      ["flip", "⇋"],
    ]).map(([way, sign]) =>
      this.button(`turn-${way}`, this.text(`draw_turn_${way}`), sign, () => this.sheet.turn(way)),
    );
  }

  /** The field for what is stamped. */
  stampField() {
    const { drawings, stamp, values } = this;
    if (stamp === "label") {
      const input = html("input", { value: values.label, size: 5, maxLength: 5 });
      input.addEventListener("change", () => {
        values.label = input.value.replaceAll(/\s|^\.$/g, "");
      });
      return [field(drawings, "draw_label_text", input)];
    }
    if (stamp !== "clue") return [];
    const pieces = (drawings.project.shapes?.pieces ?? []).map(({ id }) => [
      JSON.stringify({ piece: id }),
      this.text("draw_clue_piece", { id }),
    ]);
    const marks = Object.keys(drawings.marks).map((mark) => [
      JSON.stringify({ mark }),
      this.text("draw_mark", { letter: mark }),
    ]);
    const choices = [...pieces, ...marks];
    if (!choices.some(([value]) => value === values.clue)) values.clue = choices[0]?.[0] ?? "";
    const select = html(
      "select",
      {},
      ...choices.map(([value, textContent]) =>
        html("option", { value, textContent, selected: value === values.clue }),
      ),
    );
    select.addEventListener("change", () => {
      values.clue = select.value;
    });
    return [field(drawings, "draw_clue_of", select)];
  }

  /** The field to add a mark of a look that the set has not.
   * @param {Thing} thing */
  markField(thing) {
    const { drawings } = this;
    const looks = Object.keys(SIGNS).filter(
      (look) => !Object.values(drawings.marks).includes(look),
    );
    if (!looks.length) return [];
    const choices = [
      ["", "–"],
      ...looks.map((look) => [look, `${SIGNS[look]} ${this.text(`draw_look_${look}`)}`]),
    ];
    const select = html(
      "select",
      {},
      ...choices.map(([value, textContent]) => html("option", { value, textContent })),
    );
    select.addEventListener("change", () => this.addMark(thing, select.value));
    return [field(drawings, "draw_add_mark", select)];
  }

  /** Lets the set's pieces have marks of a look, and paints with them.
   * @param {Thing} thing
   * @param {string} look */
  addMark(thing, look) {
    if (!look) return;
    const take = (/** @type {{ letter: string }} */ { letter }) => this.use(thing, letter);
    this.drawings.edit("mark", () => ({ look }), take);
  }

  /** Digits choose a brush.
   * @param {KeyboardEvent} event */
  chooseByKey(event) {
    const index = "123456789".indexOf(event.key);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const brush = /** @type {HTMLElement | null} */ (
      this.element.querySelectorAll("[role=radio]")[index]
    );
    brush?.click();
    if (brush) this.drawings.studio.announce(brush.ariaLabel ?? "");
  }
}
