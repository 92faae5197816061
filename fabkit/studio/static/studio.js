// @ts-check
// The studio: its bar, its views, and what is open.

import { Lattice } from "./lattice.js";
import { formatMessage, html } from "./play-draw.js";
import { Settings } from "./play-settings.js";
import { ask } from "./play-share.js";
import { Project } from "./project.js";
import { call, ServerError } from "./server.js";

const { FABKIT: data } = window;

/** The views by name: modules that export `start(studio, section)`, loaded when first opened. */
const VIEWS = ["draw", "tune", "challenges", "play"];
/** Fields in which text is typed: these have an undo of their own. */
const TYPED = "textarea, input:not([type=checkbox], [type=color], [type=radio], [type=range])";

export class Studio {
  /** @param {any} start what the server starts with; see `start_document` */
  constructor(start) {
    this.start = start;
    this.messages = data.messages;
    this.project = new Project(start);
    /** @type {Map<string, Lattice>} */
    this.lattices = new Map(
      start.lattices.map((/** @type {any} */ document) => [document.name, new Lattice(document)]),
    );
    /** @type {Map<string, { show?: () => void }>} */
    this.views = new Map();
    /** Views that are being loaded.
     * @type {Map<string, Promise<void>>} */
    this._loading = new Map();
    this.view = "";
    /** The set files in the working folder.
     * @type {string[]} */
    this.files = [];
  }

  /** The lattice of the open set; that of squares while the file names none.
   * @returns {Lattice} */
  get lattice() {
    const name = this.project.reading.lattice ?? "square";
    return /** @type {Lattice} */ (this.lattices.get(name));
  }

  /** @param {string} id
   * @returns {any} */
  find(id) {
    return document.getElementById(`studio-${id}`);
  }

  /** A message in the current language.
   * @param {string} name
   * @param {Record<string, string | number>} [values] */
  text(name, values = {}) {
    return formatMessage(this.messages[name], values);
  }

  /** @param {string} text */
  announce(text) {
    this.find("say").textContent = text;
  }

  /** Announces the error of a call; others are the studio's own.
   * @param {unknown} error */
  fail(error) {
    this.announce(error instanceof ServerError ? error.message : this.text("say_lost"));
    if (!(error instanceof ServerError || error instanceof TypeError)) throw error;
  }

  async run() {
    new Settings();
    const { start, project } = this;
    this.fillFiles(start.files);
    /** @type {Record<string, () => unknown>} */
    const actions = {
      new: () => this.find("new").showModal(),
      save: async () => {
        /** @type {HTMLElement} */ (document.activeElement).blur(); // what is typed counts
        await project.whenRead();
        const isInFile =
          project.savedDigest || start.shipped.includes(project.name.replace(/\.toml$/, ""));
        const names = [];
        if (project.isProfileSaved || !project.isTextSaved || !isInFile) {
          await project.save();
          names.push(project.name);
          this.announce(this.text("say_saved", { name: project.name }));
          this.fillFiles(await call("files", {}));
        }
        const profile = project.isProfileSaved ? "" : await this.saveProfile();
        if (profile)
          this.announce(this.text("say_saved", { name: [...names, profile].join(", ") }));
      },
      undo: () => project.undo(),
      redo: () => project.redo(),
    };
    for (const button of document.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.attempt(actions[button.dataset.do]));
    }
    this.find("new").addEventListener("close", () => {
      const body = { lattice: this.find("lattice").value, example: this.find("example").checked };
      if (this.find("new").returnValue) this.open(() => call("new", body));
    });
    this.find("open").addEventListener("change", () => {
      const body = { name: this.find("open").value };
      this.open(() => call("open", body));
    });
    this.find("name").addEventListener("change", () => project.rename(this.find("name").value));
    document.addEventListener("keydown", (event) => {
      const isText = /** @type {Element} */ (event.target).matches(TYPED);
      const name = { z: event.shiftKey ? "redo" : "undo", y: "redo", s: "save" }[
        event.key.toLowerCase()
      ];
      if (!name || !(event.ctrlKey || event.metaKey) || (isText && name !== "save")) return;
      event.preventDefault();
      this.attempt(actions[name]);
    });
    const tabs = [...document.querySelectorAll("[role=tab]")];
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => this.attempt(() => this.show(VIEWS[place])));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[/** @type {KeyboardEvent} */ (event).key];
        if (!step) return;
        const next = /** @type {HTMLElement} */ (tabs[(place + step + tabs.length) % tabs.length]);
        next.focus();
        next.click();
      });
    });
    window.addEventListener("beforeunload", (event) => {
      if (!(project.isSaved && project.isRead)) event.preventDefault();
    });
    project.addEventListener("change", () => this.update());
    document.addEventListener("fabkit:language", () => {
      this.fillFiles(this.files);
      this.update();
    });
    await project.load(start.open);
    await this.show(VIEWS[0]);
  }

  /** Makes a call and announces its failure.
   * @param {() => unknown} action */
  async attempt(action) {
    try {
      return await action();
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Saves the profile; returns the name of its file, or an empty one if it was not saved.
   * @returns {Promise<string>} */
  saveProfile() {
    const answers = /** @type {[string, string][]} */ ([
      ["", this.text("cancel")],
      ["save", this.text("do_save")],
    ]);
    return this.project.saveProfile((name) => ask(this.text("tune_overwrite", { name }), answers));
  }

  /** @param {string[]} files */
  fillFiles(files) {
    this.files = files;
    const option = (/** @type {string} */ value) => html("option", { value, textContent: value });
    const group = (/** @type {string} */ key, /** @type {string[]} */ names) =>
      html("optgroup", { label: this.text(key) }, ...names.map(option));
    this.find("open").replaceChildren(
      html("option", { value: "", textContent: this.text("do_open") }),
      ...(files.length ? [group("own_files", files)] : []),
      group("shipped", this.start.shipped),
    );
  }

  /** Opens a file in place of the present one, once changes of that are given up.
   * @param {() => Promise<any>} file */
  async open(file) {
    await this.project.whenRead();
    const choice = this.project.isSaved
      ? "leave"
      : await ask(this.text("ask_leave"), [
          ["", this.text("cancel")],
          ["leave", this.text("do_leave")],
        ]);
    if (choice) await this.attempt(async () => this.project.load(await file()));
    this.find("open").value = "";
  }

  /** @param {string} name */
  async show(name) {
    this.view = name;
    for (const view of VIEWS) {
      const tab = /** @type {HTMLElement} */ (document.getElementById(`tab-${view}`));
      tab.setAttribute("aria-selected", String(view === name));
      tab.tabIndex = view === name ? 0 : -1;
      /** @type {HTMLElement} */ (document.getElementById(`view-${view}`)).hidden = view !== name;
    }
    if (!this._loading.has(name)) this._loading.set(name, this._load(name));
    await this._loading.get(name);
    if (this.view === name) this.views.get(name)?.show?.();
  }

  /** @param {string} name */
  async _load(name) {
    const section = /** @type {HTMLElement} */ (document.getElementById(`view-${name}`));
    this.views.set(name, (await import(`./${name}.js`)).start(this, section));
  }

  update() {
    const { project } = this;
    if (document.activeElement !== this.find("name")) this.find("name").value = project.name;
    const disable = (/** @type {string} */ name, /** @type {boolean} */ isOff) =>
      document.querySelector(`[data-do=${name}]`)?.setAttribute("aria-disabled", String(isOff));
    disable("undo", !project.past.length);
    disable("redo", !project.future.length);
    disable("save", project.isSaved);
    document.title = `${project.isSaved ? "" : "• "}${project.name} – ${this.messages.studio}`;
  }
}

const start = await (await fetch("start.json")).json();
if (start.error) {
  document.body.prepend(html("p", { className: "notice", textContent: start.error.text }));
} else {
  const studio = new Studio(start);
  Object.assign(window, { fabkitStudio: studio });
  await studio.run();
}
