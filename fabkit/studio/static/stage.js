// @ts-check
// The 3D view of what the profile makes, and sections with their measures.
import { html, svg } from "./play-draw.js";
import { ViewerScene } from "./viewer-scene.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {{ id: string, kind: string, model: Fabkit.Model }} Made */
/** @typedef {[id: string, matrix: number[]][]} Places */
/** @typedef {{ rings: Fabkit.Point[][], measures: { name: string, mm: number, points: Fabkit.Point[] }[] }} Cut */

/** Parts are shown as out of date where none has been made for so long: another image before the one
 * that is waited for would delay it. */
const PATIENCE_MS = 800;
/** The size of texts on a section, as a fraction of its width. */
const TEXT = 0.032;
/** How far measures along the edge of a section are from it, and the margin, in sizes of texts. */
const [OUTSIDE, MARGIN] = [1.25, 4];

export class Stage {
  /** @param {Studio} studio
   * @param {() => void} onShown called when something is to be shown that is not made yet */
  constructor(studio, onShown) {
    this.studio = studio;
    this.onShown = onShown;
    /** @type {Map<string, Made & { bytes: Uint8Array<ArrayBuffer> }>} */
    this.made = new Map();
    /** @type {string[]} */
    this.ids = [];
    /** @type {Places[]} */
    this.plates = [];
    /** @type {Places | null} */
    this.solution = null;
    /** The ids of parts that are not made anew yet. */
    this.outdated = new Set();
    /** What is shown: ``all``, ``assembled``, ``plate-1``, or the id of a part. */
    this.shown = "all";
    this.isSection = false;
    this.isComplete = false;
    this.waiting = this.timer = 0;
    this.select = html("select", { onchange: () => this.choose(this.select.value) });
    this.cutButton = html("button", {
      type: "button",
      className: "plain",
      onclick: () => this.toggleSection(),
    });
    this.slider = html("input", { type: "range", min: "0", max: "100", value: "0" });
    this.slider.addEventListener("input", () =>
      this.scene?.setApart(Number(this.slider.value) / 100),
    );
    this.sliderText = html("span");
    this.apart = html("label", { className: "tune-apart" }, this.sliderText, this.slider);
    this.canvas = html("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.cut = html("div", { className: "tune-cut", hidden: true });
    this.note = html("p", { className: "quiet tune-keys" });
    /** @type {ViewerScene | null} */
    this.scene = null;
    this.element = html(
      "div",
      { className: "tune-stage" },
      html("div", { className: "tune-bar" }, this.select, this.cutButton, this.apart),
      html("div", { className: "tune-view" }, this.canvas, this.cut),
      this.note,
    );
    this.write();
  }

  /** The part that is shown alone, or would be cut. */
  get part() {
    return this.ids.includes(this.shown) ? this.shown : (this.ids[0] ?? "");
  }

  write() {
    const { studio } = this;
    this.select.ariaLabel = studio.text("tune_shown");
    this.cutButton.textContent = studio.text("tune_section");
    this.sliderText.textContent = studio.text("tune_apart");
    this.note.textContent = this.isLost
      ? studio.messages.view_none
      : studio.messages[matchMedia("(pointer: coarse)").matches ? "view_touch" : "view_keys"];
    this.fill();
    if (this.lastCut) this.takeSection(this.lastCut);
  }

  /** Starts the scene, once it is visible. */
  show() {
    if (this.scene || this.isLost) return;
    try {
      this.scene = new ViewerScene(this.canvas);
    } catch {
      this.isLost = true;
      this.write();
    }
  }

  /** Fills the list of what can be shown. */
  fill() {
    const { studio } = this;
    const option = (/** @type {string} */ value, /** @type {string} */ textContent) =>
      html("option", { value, textContent });
    const shapes = studio.project.shapes;
    const group = (/** @type {string} */ key, /** @type {string[]} */ ids) =>
      ids.length
        ? [html("optgroup", { label: studio.text(key) }, ...ids.map((id) => option(id, id)))]
        : [];
    const [pieces, others] = [true, false].map((isPiece) =>
      this.ids.filter((id) => (this.kindOf(id) === "piece") === isPiece),
    );
    const hasBoard = shapes?.boards.length || shapes?.challenges.length;
    this.select.replaceChildren(
      option("all", studio.text("tune_all")),
      ...(hasBoard ? [option("assembled", studio.text("tune_assembled"))] : []),
      ...this.plates.map((_, place) =>
        option(`plate-${place + 1}`, studio.text("tune_plate", { number: place + 1 })),
      ),
      ...group("tune_pieces", pieces),
      ...group("tune_boards", others),
    );
    if (![...this.select.options].some(({ value }) => value === this.shown)) this.shown = "all";
    this.select.value = this.shown;
    this.update();
  }

  /** @param {string} id */
  kindOf(id) {
    return this.made.get(id)?.kind ?? "piece";
  }

  update() {
    this.cutButton.setAttribute("aria-pressed", String(this.isSection));
    this.apart.hidden = this.isSection || this.shown !== "assembled";
    this.canvas.hidden = this.note.hidden = this.isSection;
    this.cut.hidden = !this.isSection;
    const name = this.select.selectedOptions[0]?.textContent ?? "";
    this.canvas.ariaLabel = this.studio.text("tune_view", { name });
  }

  /** @param {string} shown */
  choose(shown) {
    this.shown = shown;
    if (shown === "assembled" || shown === "all" || shown.startsWith("plate-"))
      this.isSection = false;
    this.update();
    this.place(false);
    if (this.isSection || (shown === "assembled" && !this.solution)) this.onShown();
  }

  toggleSection() {
    this.isSection = !this.isSection;
    if (this.isSection && this.shown !== this.part) this.choose(this.part);
    else if (this.isSection) this.onShown();
    this.select.value = this.shown;
    this.update();
    if (!this.isSection) this.place(false);
  }

  /** Shows that everything is out of date. */
  begin() {
    this.outdated = new Set(this.ids);
    this.solution = null;
    this.wait();
  }

  /** Waits for the next part. */
  wait() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.fade(), PATIENCE_MS);
  }

  /** Shows what is still out of date. */
  fade() {
    this.scene?.setFaint(this.copies(this.outdated));
  }

  /** The ids of parts and of their copies on plates.
   * @param {Set<string>} ids */
  copies(ids) {
    return new Set([...(this.scene?.parts.keys() ?? [])].filter((id) => ids.has(id.split("#")[0])));
  }

  /** Takes what is made: all ids, or a part.
   * @param {any} event */
  async take(event) {
    if (event.ids) {
      this.ids = event.ids;
      for (const id of this.made.keys()) if (!this.ids.includes(id)) this.drop(id);
      this.fill();
    }
    if (!event.model) return;
    this.wait();
    const before = this.made.get(event.id);
    const isSame =
      before &&
      before.model.mesh === event.model.mesh &&
      String(before.model.colours) === String(event.model.colours);
    const bytes = isSame ? before.bytes : await ViewerScene.inflate(event.model);
    this.made.set(event.id, { ...event, bytes });
    this.outdated.delete(event.id);
    if (!this.scene) return;
    if (!isSame) {
      this.drop(event.id, true);
      this.scene.add(event.id, event.model, bytes);
    }
    if (before) return;
    this.fill();
    this.waiting ||= requestAnimationFrame(() => this.place(true));
  }

  /** Removes a part, or only its copies.
   * @param {string} id
   * @param {boolean} [copiesOnly] */
  drop(id, copiesOnly = false) {
    for (const copy of this.copies(new Set([id])))
      if (!copiesOnly || copy !== id) this.scene?.remove(copy);
    if (!copiesOnly) this.made.delete(id);
  }

  /** Everything is made that can be: the first time, the view is set for it. */
  end() {
    clearTimeout(this.timer);
    this.fade();
    this.fill();
    this.place(this.isComplete);
    this.isComplete = true;
  }

  /** @param {Places[]} plates */
  takePlates(plates) {
    const isSame = JSON.stringify(plates) === JSON.stringify(this.plates);
    this.plates = plates;
    if (isSame) return;
    this.fill();
    if (this.shown.startsWith("plate-")) this.place(true);
  }

  /** @param {Places | null} solution */
  takeSolution(solution) {
    this.solution = solution;
    if (!solution) this.studio.announce(this.studio.text("tune_unsolved"));
    this.place(true);
  }

  /** Puts the shown parts where they belong.
   * @param {boolean} keeping whether the view stays as it is */
  place(keeping) {
    this.waiting = 0;
    const { scene } = this;
    if (!scene || this.isSection) return;
    const known = this.ids.filter((id) => scene.has(id));
    const [pieces, others] = [true, false].map((isPiece) =>
      known.filter((id) => (this.kindOf(id) === "piece") === isPiece),
    );
    const plate = this.plates[Number(this.shown.split("-")[1]) - 1];
    let places = /** @type {Map<string, number[]>} */ (new Map());
    /** @type {string[]} */
    let parting = [];
    if (this.shown === "assembled" && this.solution) {
      places = this.copied(this.solution);
      parting = [...places.keys()].filter((id) => this.kindOf(id.split("#")[0]) === "piece");
    } else if (plate && this.shown.startsWith("plate-")) places = this.copied(plate);
    else if (scene.has(this.shown)) places = scene.rows([this.shown], []);
    else if (pieces.length) places = scene.rows(pieces, others);
    else if (others.length) places = scene.rows(others, []);
    if (!places.size) return;
    scene.apart = parting.length ? Number(this.slider.value) / 100 : 0;
    scene.show(places, parting, false, keeping);
  }

  /** Places by the ids of the scene, which has a copy of a part for each further place.
   * @param {Places} list */
  copied(list) {
    const places = new Map();
    for (const [id, matrix] of list) {
      const made = this.made.get(id);
      if (!made || !this.scene?.has(id)) continue;
      let name = id;
      for (let number = 2; places.has(name); number++) name = `${id}#${number}`;
      if (!this.scene.has(name)) this.scene.add(name, made.model, made.bytes);
      places.set(name, matrix);
    }
    return places;
  }

  /** Draws a section with its measures, in mm.
   * @param {Cut} cut */
  takeSection(cut) {
    this.lastCut = cut;
    if (!cut.rings.length) {
      this.cut.replaceChildren(html("p", { textContent: this.studio.text("tune_no_section") }));
      return;
    }
    const points = cut.rings.flat();
    const [xs, zs] = [0, 1].map((axis) => points.map((point) => point[axis]));
    const [left, right, low, high] = [
      Math.min(...xs),
      Math.max(...xs),
      Math.min(...zs),
      Math.max(...zs),
    ];
    const size = TEXT * Math.max(right - left, 2 * (high - low));
    const [margin, outside] = [MARGIN * size, OUTSIDE * size];
    const path = cut.rings
      .map((ring) => `M${ring.map(([x, z]) => `${x} ${-z}`).join("L")}Z`)
      .join("");
    const drawing = svg(
      "svg",
      {
        viewBox: `${left - margin} ${-high - margin} ${right - left + 2 * margin} ${high - low + 2 * margin}`,
        role: "img",
        "aria-label": this.studio.text("tune_section_of", { name: this.part }),
      },
      svg("path", { d: path, class: "cut", "fill-rule": "evenodd" }),
    );
    const rows = cut.measures.map(({ name, mm, points: [[x1, z1], [x2, z2]] }, place) => {
      const letter = String.fromCharCode(97 + place);
      // A length along an edge is drawn beside it.
      const isUpright = x1 === x2;
      const shift = isUpright && x1 >= right - 1e-3 ? outside * (name === "thickness" ? 2 : 1) : 0;
      const down = !isUpright && z1 <= low + 1e-3 ? outside : 0;
      const ends = { x1: x1 + shift, x2: x2 + shift, y1: -z1 + down, y2: -z2 + down };
      const text = svg("text", {
        x: (ends.x1 + ends.x2) / 2 + (isUpright ? size * 0.4 : 0),
        y: (ends.y1 + ends.y2) / 2 + (isUpright ? size * 0.35 : -size * 0.3),
        "font-size": size,
        "text-anchor": isUpright ? "start" : "middle",
      });
      text.textContent = letter;
      drawing.append(svg("line", { ...ends, class: "measure" }), text);
      return html(
        "div",
        {},
        html(
          "dt",
          {},
          html("b", { textContent: letter }),
          ` ${this.studio.text(`tune_measure_${name.replaceAll("-", "_")}`)}`,
        ),
        html("dd", { textContent: `${Number(mm.toFixed(2))} mm` }),
      );
    });
    this.cut.replaceChildren(drawing, html("dl", {}, ...rows));
  }
}
