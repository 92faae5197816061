// @ts-check
// The list of pieces and boards: to choose, add and remove them.

import { replaceContent } from "./content.js";
import { CUT, isSameThing, LETTERS } from "./drawings.js";
import { html, svg, viewBox } from "./play-draw.js";
import { boxOf } from "./play-grid.js";

/** @typedef {import("./drawings.js").Drawings} Drawings */
/** @typedef {import("./drawings.js").Thing} Thing */

/** Fires `choose` and `add` with the thing as `detail`; one that is added is not in the file yet. */
export class ThingList extends EventTarget {
  /** @param {Drawings} drawings */
  constructor(drawings) {
    super();
    this.drawings = drawings;
    this.list = html("ul", { className: "things" });
    this.title = html("h2", {});
    this.flips = html("input", { type: "checkbox" });
    this.flipsText = html("span", {});
    this.flips.addEventListener("change", () =>
      drawings.change(CUT, (_, file) => {
        file.set = { ...file.set, moves: this.flips.checked ? "rotations and flips" : "rotations" };
      }),
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
    this.flips.checked = drawings.project.document?.set?.moves !== "rotations";
    replaceContent(list, "id", () => {
      const addButtons = /** @type {const} */ (["piece", "board"]).map((kind) =>
        this.button(`add-${kind}`, "plain", () => this.add(kind), this.text(`draw_add_${kind}`)),
      );
      return [
        ...drawings.things.map((thing) => this.item(thing, isSameThing(thing, chosen))),
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
    button.classList.toggle("wrong", drawings.faultsOf(thing).length > 0);
    const item = html("li", {}, button);
    if (kind !== "cut" || drawings.project.document?.cut) {
      const remove = this.button(`remove-${kind}-${index}`, "round", () => this.remove(thing), "×");
      remove.ariaLabel = this.text("draw_remove", { name });
      item.append(remove);
    }
    return item;
  }

  /** @param {"piece" | "board"} kind */
  add(kind) {
    const { drawings } = this;
    drawings.change(CUT, (cut, file) => {
      const tables = (file[kind] ??= []);
      const cutIds =
        kind === "piece" ? drawings.drawn(CUT).map(([, letter]) => letter) : [cut.board ?? "board"];
      const ids = new Set([...tables.map((/** @type {any} */ { id }) => id), ...cutIds]);
      const names =
        kind === "piece"
          ? [...LETTERS]
          : ["board", ...Array.from({ length: 99 }, (_, i) => `board-${i + 2}`)];
      const id = names.find((name) => !ids.has(name)) ?? `${kind}-${tables.length + 1}`;
      tables.push({ id, ...(kind === "board" ? { size: [4, 4] } : { rows: ["X"] }) });
      this.dispatchEvent(new CustomEvent("add", { detail: { kind, index: tables.length - 1 } }));
    });
  }

  /** @param {Thing} thing */
  remove({ kind, index }) {
    this.drawings.change(CUT, (_, file) => {
      if (kind !== "cut") file[kind].splice(index, 1);
      if (kind === "cut" || !file[kind].length) delete file[kind];
    });
  }

  /** A small picture of what a table draws.
   * @param {Thing} thing */
  thumbnail(thing) {
    const {
      drawings,
      drawings: {
        lattice: { grid },
      },
    } = this;
    const drawn = drawings.drawn(thing);
    const picture = svg("svg", { class: "thumb", "aria-hidden": "true" });
    if (!drawn.length) return picture;
    const letters = thing.kind === "cut" ? [...new Set(drawn.map(([, letter]) => letter))] : [""];
    const rings = letters.map((letter) =>
      grid.ringsOf(drawn.filter(([, other]) => !letter || letter === other).map(([cell]) => cell)),
    );
    letters.forEach((letter, i) =>
      picture.append(
        svg("path", { d: grid.path(rings[i]), fill: drawings.fill(thing, letter), class: "body" }),
      ),
    );
    picture.setAttribute("viewBox", viewBox(grid, boxOf(rings.flat()), 10).join(" "));
    return picture;
  }
}
