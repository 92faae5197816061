// @ts-check
// The profile as a form that is made from its own model.
import { formatCount, html } from "./play-draw.js";
import { call } from "./server.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {{ key: string, kind: string, limits: any[] }} Setting */
/** @typedef {{ key: string, message: string }} Fault */
/** @typedef {{ settings: Setting[], layers: Record<string, Record<string, string>>, values: Record<string, string>,
 *   reset: Record<string, string>, faults: Fault[] }} Profile */
/** @typedef {{ setting: Setting, row: HTMLElement, field: HTMLInputElement | HTMLSelectElement,
 *   slider: HTMLInputElement | null, reset: HTMLButtonElement, fault: HTMLElement }} Row */

/** The sections that are open at first; the first is that of keys without one. */
const OPEN = ["", "magnet", "recess", "label", "printer"];
/** How long a field rests before its value counts. */
const DEBOUNCE_MS = 150;
/** A slider reaches to so many times the value without changes; the number beside it reaches to both limits. */
const REACH = 3;
/** A slider reaches over this share of the limits at least. */
const MIN_SHARE = 0.03;

/** @param {string} text */
const numberOf = (text) => Number.parseFloat(text);
/** The unit of a value, with the space before it.
 * @param {string} text */
const unitOf = (text) => text.replace(/^[-+\d.e]*/, "");
/** @param {string} key */
const sectionOf = (key) => (key.includes(".") ? key.split(".")[0] : "");

export class Form {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    /** @type {Profile | null} */
    this.profile = null;
    /** @type {string[]} */
    this.layers = [];
    /** What is changed in the profile that is shown: values by key.
     * @type {Record<string, string>} */
    this.settings = {};
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.timer = 0;
    /** Values that are typed and do not count yet.
     * @type {Map<string, string>} */
    this.typed = new Map();
    /** The profiles to choose from, as a text to compare. */
    this.offered = "";
    this.choices = html("div", { className: "tune-choices" });
    this.search = html("input", { type: "search", spellcheck: false });
    this.count = html("output");
    this.resetAll = html("button", {
      type: "button",
      className: "link",
      onclick: () => this.change({}),
    });
    this.save = html("button", {
      type: "button",
      className: "plain",
      onclick: () => studio.attempt(() => this.saveProfile()),
    });
    this.faults = html("div", { className: "tune-faults", role: "alert" });
    this.sections = html("div");
    studio.project.addEventListener("profile-saved", () =>
      studio.attempt(() => this.readChoices()),
    );
    this.search.addEventListener("input", () => this.filter());
    this.element = html(
      "form",
      { className: "tune-form", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      this.choices,
      html("div", { className: "tune-changes" }, this.count, this.resetAll, this.save),
      this.search,
      this.faults,
      this.sections,
    );
    this.write();
  }

  /** The profile from which changes go on: a set may have been opened that is not shown yet. */
  get state() {
    return this.studio.project.state;
  }

  /** @param {Profile} profile
   * @param {{ layers: string[], settings: Record<string, string> }} request */
  read(profile, { layers, settings }) {
    const isFirst = !this.profile;
    this.profile = profile;
    this.layers = layers;
    this.settings = settings;
    if (isFirst) this.build();
    else this.buildChoices();
    this.fill();
    this.showFaults(profile.faults);
  }

  write() {
    const { studio } = this;
    this.search.placeholder = this.search.ariaLabel = studio.text("tune_search");
    this.resetAll.textContent = studio.text("tune_reset_all");
    this.save.textContent = studio.text("tune_save");
    if (!this.profile) return;
    const { faults } = this.profile;
    this.build();
    this.fill();
    this.showFaults(faults);
  }

  build() {
    const { settings } = /** @type {Profile} */ (this.profile);
    const openNow = new Set(
      [...this.sections.querySelectorAll("details")].map(
        (section) => section.open && section.dataset.section,
      ),
    );
    const isFirst = !this.rows.size;
    this.rows.clear();
    this.buildChoices();
    const groups = Map.groupBy(settings, ({ key }) => sectionOf(key));
    this.sections.replaceChildren(
      ...[...groups].map(([name, members]) => {
        const title = this.studio.text(`tune_section_${name || "piece"}`);
        const section = html(
          "details",
          { open: isFirst ? OPEN.includes(name) : openNow.has(name) },
          html("summary", {}, html("span", { textContent: title }), html("output")),
          ...members.map((setting) => this.buildRow(setting)),
        );
        section.dataset.section = name;
        return section;
      }),
    );
    this.filter();
  }

  /** Fills the lists of profiles to choose from, unless they are as they were. */
  buildChoices() {
    const { layers } = /** @type {Profile} */ (this.profile);
    const content = JSON.stringify([document.documentElement.lang, layers]);
    if (content === this.offered) return;
    this.offered = content;
    this.choices.replaceChildren(
      ...Object.entries(layers).map(([group, names]) => {
        const options = Object.entries(names).map(([value, title]) =>
          html("option", { value, textContent: `${value.split(/[\\/]/).at(-1)} · ${title}` }),
        );
        const select = html(
          "select",
          { onchange: () => this.chooseLayer(group, select.value) },
          html("option", { value: "", textContent: this.studio.text("tune_layer_none") }),
          ...options,
        );
        select.dataset.group = group;
        return html(
          "label",
          {},
          html("span", { textContent: this.studio.text(`tune_layer_${group}`) }),
          select,
        );
      }),
    );
  }

  /** What a key sets, in the current language.
   * @param {string} key */
  describe(key) {
    return this.studio.text(`setting.${key}`);
  }

  /** @param {Setting} setting */
  buildRow(setting) {
    const { key, kind, limits } = setting;
    const description = this.describe(key);
    const id = `tune-${key}`;
    const [min, max] = limits;
    const isNumber = ["length", "angle", "number"].includes(kind);
    const field =
      kind === "choice"
        ? html(
            "select",
            { id },
            ...limits.map((value) => html("option", { value, textContent: value })),
          )
        : html("input", {
            id,
            spellcheck: false,
            type: isNumber ? "number" : kind === "colour" ? "color" : "text",
          });
    if (field instanceof HTMLInputElement && isNumber)
      Object.assign(field, { min, max, step: "any" });
    const slider =
      kind === "length"
        ? html("input", { type: "range", ariaLabel: description, tabIndex: -1 })
        : null;
    const reset = html("button", {
      type: "button",
      className: "round",
      textContent: "↺",
      onclick: () => this.reset(key),
    });
    const fault = html("div", { id: `${id}-fault`, className: "fault" });
    const unit = kind === "length" ? "mm" : kind === "angle" ? "°" : "";
    field.addEventListener(kind === "choice" ? "change" : "input", () => {
      if (slider) slider.value = field.value;
      this.enter(setting, field.value);
    });
    slider?.addEventListener("input", () => {
      field.value = slider.value;
      this.enter(setting, slider.value);
    });
    const label = html(
      "label",
      { htmlFor: id },
      description[0].toUpperCase() + description.slice(1),
    );
    label.append(" ", html("code", { textContent: key }));
    const controls = html(
      "div",
      { className: "tune-controls" },
      ...(slider ? [slider] : []),
      field,
      ...(unit ? [html("span", { textContent: unit })] : []),
      reset,
    );
    const row = html("div", { className: "setting" }, label, controls, fault);
    row.dataset.key = key;
    this.rows.set(key, { setting, row, field, slider, reset, fault });
    return row;
  }

  /** Writes all values, but not into the field that is being changed. */
  fill() {
    const { values, reset } = /** @type {Profile} */ (this.profile);
    const { settings } = this;
    for (const [key, { setting, row, field, slider, reset: button }] of this.rows) {
      const value = values[key];
      const shown = field.type === "number" ? String(numberOf(value)) : value;
      if (slider) this.scale(slider, setting, numberOf(reset[key]), numberOf(value));
      const isAsTyped =
        document.activeElement === field && numberOf(field.value) === numberOf(shown);
      if (!this.typed.has(key) && !isAsTyped) field.value = shown;
      const isChanged = key in settings;
      row.classList.toggle("changed", isChanged);
      button.hidden = !isChanged;
      button.ariaLabel = button.title = this.studio.text("tune_reset", { key, value: reset[key] });
    }
    const count = Object.keys(settings).length;
    this.count.textContent = formatCount(this.studio.messages, "tune_changes", count);
    this.resetAll.hidden = this.save.hidden = !count;
    for (const section of this.sections.querySelectorAll("details")) {
      const inside = section.querySelectorAll(".changed").length;
      /** @type {HTMLElement} */ (section.querySelector("output")).textContent = inside
        ? `• ${inside}`
        : "";
    }
    for (const select of this.choices.querySelectorAll("select")) {
      const names = /** @type {Profile} */ (this.profile).layers[select.dataset.group ?? ""];
      select.value = this.layers.find((layer) => layer in names) ?? "";
    }
  }

  /** @param {HTMLInputElement} slider
   * @param {Setting} setting
   * @param {number} reset
   * @param {number} value */
  scale(slider, { limits: [min, max] }, reset, value) {
    if (document.activeElement === slider) return;
    const top = Math.min(max, Math.max(REACH * reset, value, min + MIN_SHARE * (max - min)));
    const reach = top - min;
    Object.assign(slider, { min, max: top, step: reach > 10 ? 0.1 : reach > 2 ? 0.05 : 0.01 });
    slider.value = String(value);
  }

  /** Takes a value that was typed or dragged, once it rests.
   * @param {Setting} setting
   * @param {string} value */
  enter({ key, kind }, value) {
    if (value === "" && kind !== "name") return;
    const { reset } = /** @type {Profile} */ (this.profile);
    this.typed.set(
      key,
      ["length", "angle"].includes(kind) ? `${value}${unitOf(reset[key])}` : value,
    );
    clearTimeout(this.timer);
    this.timer = window.setTimeout(
      () => {
        const settings = { ...this.state.settings };
        // The latest change comes last; a value without changes is none.
        for (const [typedKey, text] of this.typed) {
          delete settings[typedKey];
          const isNumber = this.rows.get(typedKey)?.field.type === "number";
          const isSame =
            text === reset[typedKey] || (isNumber && numberOf(text) === numberOf(reset[typedKey]));
          if (!isSame) settings[typedKey] = text;
        }
        this.typed.clear();
        this.change(settings);
      },
      kind === "choice" ? 0 : DEBOUNCE_MS,
    );
  }

  /** @param {string} key */
  reset(key) {
    const { [key]: _, ...others } = this.state.settings;
    this.rows.get(key)?.field.focus();
    return this.change(others);
  }

  /** @param {Record<string, string>} settings */
  change(settings) {
    return this.studio.attempt(() => this.studio.project.changeProfile({ settings }));
  }

  /** @param {string} group
   * @param {string} name */
  chooseLayer(group, name) {
    const { layers } = /** @type {Profile} */ (this.profile);
    const chosen = new Set(this.state.layers);
    for (const other of Object.keys(layers[group])) chosen.delete(other);
    if (name) chosen.add(name);
    // A profile comes before the layers on it.
    const order = Object.values(layers).flatMap((names) => Object.keys(names));
    const sorted = [...chosen].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    return this.studio.attempt(() => this.studio.project.changeProfile({ layers: sorted }));
  }

  /** @param {Fault[]} faults */
  showFaults(faults) {
    for (const { field, fault, row } of this.rows.values()) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
      row.classList.remove("wrong");
      fault.replaceChildren();
    }
    this.faults.replaceChildren();
    this.addFaults(faults);
  }

  /** Shows errors, each at the field that causes it.
   * @param {Fault[]} faults */
  addFaults(faults) {
    if (!this.profile) return;
    const known = new Set(this.profile.faults.map(({ message }) => message));
    this.profile.faults.push(...faults.filter(({ message }) => !known.has(message)));
    for (const { key, message } of faults) {
      const row = this.rows.get(key);
      const place = row?.fault ?? this.faults;
      if ([...place.children].some((shown) => shown.textContent === message)) continue;
      place.append(html("p", { textContent: message, lang: "en" }));
      if (!row) continue;
      row.row.classList.add("wrong");
      row.field.setAttribute("aria-invalid", "true");
      row.field.setAttribute("aria-describedby", row.fault.id);
      const section = /** @type {HTMLDetailsElement} */ (row.row.closest("details"));
      section.open = true;
    }
  }

  /** Shows errors, unless there are some that have a cause.
   * @param {Fault[]} faults */
  addOthers(faults) {
    if (!this.profile?.faults.length) this.addFaults(faults);
  }

  /** Goes to the first field with an error. */
  showFault() {
    const field = /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-invalid]"));
    (field ?? this.search).focus();
  }

  /** Shows the fields that the search names, and opens their sections. */
  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { setting, row } of this.rows.values()) {
      const text = `${setting.key} ${this.describe(setting.key)}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    for (const section of this.sections.querySelectorAll("details")) {
      section.hidden = !section.querySelector(".setting:not([hidden])");
      if (words.length && !section.hidden) section.open = true;
    }
  }

  /** Reads again what there is to choose from. */
  async readChoices() {
    const { layers } = await call("profile", { project: this.studio.project.request });
    if (!this.profile) return;
    this.profile.layers = layers;
    this.buildChoices();
    this.fill();
  }

  async saveProfile() {
    const name = await this.studio.saveProfile();
    if (name) this.studio.announce(this.studio.text("say_saved", { name }));
  }
}
