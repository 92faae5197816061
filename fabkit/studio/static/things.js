// @ts-check
// The list of pieces and boards: to choose, add and remove them.

import { replaceContent } from "./content.js";
import { drawnBy, isSamePlace, placeOf } from "./drawings.js";

import { html, svg, viewBox } from "./play-draw.js";
import { boxOf } from "./play-grid.js";

/** @typedef {import("./drawings.js").Drawings} Drawings */
/** @typedef {import("./drawings.js").Place} Place */
/** @typedef {import("./drawings.js").Thing} Thing */

/** Fires `choose` with a thing, and `add` with the place of one that has been added, as `detail`. */
export class ThingList extends EventTarget {
  /** @param {Drawings} drawings */
  constructor(drawings) {
    super();
    this.drawings = drawings;
    this.list = html("ul", { className: "things" });
    /** @type {Map<string, { content: string, picture: SVGElement }>} */
    this.thumbnails = new Map();
    this.title = html("h2", {});
    this.flips = html("input", { type: "checkbox" });
    this.flipsText = html("span", {});
    this.flips.addEventListener("change", () =>
      drawings.edit("flips", () => ({ flips: this.flips.checked })),
    );
    this.element = html(
      "div",
      { className: "draw-things" },
      html(
        "div",
        { className: "draw-head" },
        this.title,
        html("label", { className: "check" }, this.flips, this.flipsText),
      ),
      this.list,
    );
  }

  /** @param {string} name
   * @param {Record<string, string | number>} [values] */
  text(name, values) {
    return this.drawings.studio.text(name, values);
  }

  /** @param {Thing} chosen */
  show(chosen) {
    const { drawings, list } = this;
    this.title.textContent = this.text("draw_things");
    this.flipsText.textContent = this.text("draw_flips");
    this.flips.checked = drawings.project.reading.flips !== false;
    replaceContent(list, "id", () => {
      const addButtons = /** @type {const} */ (["piece", "board"]).map((kind) =>
        this.button(`add-${kind}`, "plain", () => this.add(kind), this.text(`draw_add_${kind}`)),
      );
      return [
        ...drawings.things.map((thing) => this.item(thing, isSamePlace(thing, chosen))),
        html("li", { className: "add" }, ...addButtons),
      ];
    });
  }

  /** @param {string} id
   * @param {string} className
   * @param {() => void} act
   * @param {...(Node | string)} content */
  button(id, className, act, ...content) {
    const button = html("button", { type: "button", className }, ...content);
    button.dataset.id = id;
    button.addEventListener("click", act);
    return button;
  }

  /** @param {Thing} thing
   * @param {boolean} isChosen */
  item(thing, isChosen) {
    const { drawings } = this;
    const { kind, index } = thing;
    const name = drawings.nameOf(thing);
    const button = this.button(
      `${kind}-${index}`,
      "thing",
      () => this.dispatchEvent(new CustomEvent("choose", { detail: thing })),
      this.thumbnail(thing),
      html("span", { textContent: name }),
    );
    button.setAttribute("aria-pressed", String(isChosen));
    button.classList.toggle("wrong", thing.faults.length > 0);
    const item = html("li", {}, button);
    if (kind !== "cut" || thing.exists) {
      const act = () => drawings.edit("remove", () => ({ thing: placeOf(thing) }));
      const remove = this.button(`remove-${kind}-${index}`, "round", act, "×");
      remove.ariaLabel = this.text("draw_remove", { name });
      item.append(remove);
    }
    return item;
  }

  /** @param {"piece" | "board"} kind */
  add(kind) {
    const begin = (/** @type {{ thing: Place }} */ { thing }) =>
      this.dispatchEvent(new CustomEvent("add", { detail: thing }));
    this.drawings.edit("add", () => ({ kind }), begin);
  }

  /** A small picture of what a table draws; the same one as long as it looks the same.
   * @param {Thing} thing */
  thumbnail(thing) {
    const { drawings } = this;
    const { grid, name } = drawings.lattice;
    const { kind, index, cells, letters, brushes } = thing;
    const content = JSON.stringify([name, cells, letters, brushes]);
    const before = this.thumbnails.get(`${kind}-${index}`);
    if (before?.content === content) return before.picture;
    const picture = svg("svg", { class: "thumb", "aria-hidden": "true" });
    this.thumbnails.set(`${kind}-${index}`, { content, picture });
    const drawn = drawnBy(thing);
    if (!drawn.length) return picture;
    const shapes = kind === "cut" ? [...new Set(letters)] : [""];
    const rings = shapes.map((letter) =>
      grid.ringsOf(drawn.filter(([, other]) => !letter || letter === other).map(([cell]) => cell)),
    );
    shapes.forEach((letter, i) => {
      const { fill } = drawings.look(thing, letter);
      picture.append(svg("path", { d: grid.path(rings[i]), fill, class: "body" }));
    });
    picture.setAttribute("viewBox", viewBox(grid, boxOf(rings.flat()), 10).join(" "));
    return picture;
  }
}
