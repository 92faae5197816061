// @ts-check
// Fields for what is drawn: its name and colour, how many there are of it, the cells that stay open.
import { PLAIN, placeOf } from "./drawings.js";

import { html } from "./play-draw.js";

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
  /** @param {Drawings} drawings */
  constructor(drawings) {
    this.drawings = drawings;
  }

  /** The fields of a thing.
   * @param {Thing} thing
   * @param {string} brush the letter that is painted
   * @returns {HTMLElement[]} */
  of(thing, brush) {
    const { drawings } = this;
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
      /** @type {"count" | "open"} */ key,
    ) =>
      input(name, { type: "number", min, max: 99, value: thing[key] ?? min }, (typed) =>
        edit("set", { key, value: Math.max(min, Math.floor(Number(typed))) }),
      );
    const edit = (/** @type {string} */ command, /** @type {object} */ values) =>
      drawings.edit(command, () => ({ thing: placeOf(thing), ...values }));
    const colour = (/** @type {string} */ letter) =>
      input("draw_colour", { type: "color", value: drawings.look(thing, letter).fill }, (value) =>
        edit("set", { key: "colour", letter, value }),
      );
    if (thing.kind === "cut") return thing.letters.includes(brush) ? [colour(brush)] : [];
    const name = input("draw_id", { value: thing.id ?? "", size: 6, spellcheck: false }, (value) =>
      edit("rename", { name: value }),
    );
    if (thing.kind === "board") return [name, number("draw_open", 0, "open")];
    return [name, colour(PLAIN), number("draw_count", 1, "count")];
  }
}
