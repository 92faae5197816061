// @ts-check
// Fields for what is drawn: its name and colour, how many there are of it, the cells that stay open.

import { CUT, isSameThing, PLAIN } from "./drawings.js";
import { html } from "./play-draw.js";
import { copyIds, renameBoard, renamePieces } from "./references.js";

/** @typedef {import("./drawings.js").Drawings} Drawings */
/** @typedef {import("./drawings.js").Thing} Thing */

/** A field with its label.
 * @param {Drawings} drawings
 * @param {string} name the key of its label, by which it is found again
 * @param {HTMLInputElement | HTMLSelectElement} input */
export function field(drawings, name, input) {
  input.dataset.brush = `field-${name}`;
  return html(
    "label",
    { className: "field" },
    html("span", { textContent: drawings.studio.text(name) }),
    input,
  );
}

export class Fields {
  /** @param {Drawings} drawings
   * @param {(reason: string) => void} refuse */
  constructor(drawings, refuse) {
    this.drawings = drawings;
    this.refuse = refuse;
  }

  /** The fields of a thing.
   * @param {Thing} thing
   * @param {string} brush the letter that is painted
   * @returns {HTMLElement[]} */
  of(thing, brush) {
    const { drawings } = this;
    const table = drawings.table(thing);
    const input = (
      /** @type {string} */ name,
      /** @type {object} */ properties,
      /** @type {(value: string) => void} */ take,
    ) => {
      const element = html("input", properties);
      element.addEventListener("change", () => take(element.value));
      return field(drawings, name, element);
    };
    const number = (
      /** @type {string} */ name,
      /** @type {number} */ min,
      /** @type {number | undefined} */ value,
      /** @type {(value?: number) => void} */ take,
    ) =>
      input(name, { type: "number", min, max: 99, value: value ?? min }, (typed) =>
        take(Number(typed) > min ? Math.floor(Number(typed)) : undefined),
      );
    const colour = (/** @type {string} */ letter, /** @type {(value: string) => void} */ take) =>
      input("draw_colour", { type: "color", value: drawings.fill(thing, letter) }, take);
    if (thing.kind === "cut") {
      const isDrawn = drawings.drawn(CUT).some(([, letter]) => letter === brush);
      return isDrawn
        ? [
            colour(brush, (value) =>
              this.set(thing, "colours", { ...table.colours, [brush]: value }),
            ),
          ]
        : [];
    }
    const name = input("draw_id", { value: table.id ?? "", size: 6, spellcheck: false }, (value) =>
      this.rename(thing, value),
    );
    if (thing.kind === "board")
      return [name, number("draw_open", 0, table.open, (value) => this.set(thing, "open", value))];
    return [
      name,
      colour(PLAIN, (value) => this.set(thing, "colour", value)),
      number("draw_count", 1, table.count, (value) => this.changePiece(thing, "count", value)),
    ];
  }

  /** @param {Thing} thing
   * @param {string} key
   * @param {unknown} value undefined for none */
  set(thing, key, value) {
    this.drawings.change(thing, (table) => setKey(table, key, value));
  }

  /** Gives a thing another name, also wherever the file names it.
   * @param {Thing} thing
   * @param {string} name */
  rename(thing, name) {
    const { drawings } = this;
    const others = drawings.things.filter(
      (other) => other.kind === thing.kind && !isSameThing(other, thing),
    );
    const taken = others.map((other) => String(drawings.table(other).id).toLowerCase());
    if (!name || taken.includes(name.toLowerCase())) this.refuse("draw_name_taken");
    else if (thing.kind === "piece") this.changePiece(thing, "id", name);
    else
      drawings.change(thing, (table, file) => {
        renameBoard(file, table.id, name);
        table.id = name;
      });
  }

  /** Changes the name of a piece or the number of its copies, also wherever the file names them.
   * @param {Thing} thing
   * @param {"id" | "count"} key
   * @param {unknown} value */
  changePiece(thing, key, value) {
    this.drawings.change(thing, (table, file) => {
      const before = copyIds(table);
      setKey(table, key, value);
      const after = copyIds(table);
      renamePieces(
        file,
        new Map(before.flatMap((id, i) => (id && after[i] ? [[id, after[i]]] : []))),
      );
    });
  }
}

/** @param {any} table
 * @param {string} key
 * @param {unknown} value undefined for none */
function setKey(table, key, value) {
  if (value === undefined) delete table[key];
  else table[key] = value;
}
