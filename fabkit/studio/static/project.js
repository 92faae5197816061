// @ts-check
// The set file and the profile that are open, with all their earlier states.
import { call } from "./server.js";

/** @typedef {Record<string, any>} Document */
/** @typedef {{ key: string, message: string, line: number }} Fault */
/** What is undone and redone.
 * @typedef {{ text: string, document: Document | null, layers: string[], settings: Record<string, string> }} State */

/** Fires `change` when the document, the profile or their reading has changed. */
export class Project extends EventTarget {
  /** @param {Pick<State, "layers" | "settings">} profile with which every set begins */
  constructor({ layers, settings }) {
    super();
    this.name = "";
    this.startProfile = { layers, settings };
    /** @type {State} */
    this.state = { text: "", document: null, layers, settings };
    /** Shapes and errors, as the server reads them.
     * @type {Fabkit.Shapes | null} */
    this.shapes = null;
    /** @type {Fault[]} */
    this.faults = [];
    /** The text that was last opened or saved, its name and digest. */
    this.savedText = "";
    this.savedName = "";
    this.savedDigest = "";
    /** The profile that was last opened or saved, and the digest of the file that holds it. */
    this.savedProfile = "";
    this.savedProfileDigest = "";
    /** @type {State[]} */
    this.past = [];
    /** @type {State[]} */
    this.future = [];
    /** Counts the sets that were opened. */
    this.opening = 0;
    this._version = 0;
    /** Whether the text is not yet that of the document. */
    this._isStale = false;
    /** Whether the document goes on from the one before, with its text. */
    this._followsText = false;
    /** @type {Promise<void> | null} */
    this._reading = null;
  }

  get text() {
    return this.state.text;
  }
  /** The parsed text; null where it is not TOML. */
  get document() {
    return this.state.document;
  }
  get isRead() {
    return !this._reading;
  }
  get isTextSaved() {
    return this.text === this.savedText && this.name === this.savedName && !this._isStale;
  }
  get isProfileSaved() {
    return profileKey(this.state) === this.savedProfile;
  }
  get isSaved() {
    return this.isTextSaved && this.isProfileSaved;
  }

  /** What the server needs to know of it. */
  get request() {
    const { text, layers, settings } = this.state;
    return { name: this.name, text, layers, settings };
  }

  /** Replaces everything by a file.
   * @param {{ name: string, text: string, digest: string }} file */
  async load({ name, text, digest }) {
    Object.assign(this, {
      name,
      past: [],
      future: [],
      savedText: text,
      savedName: name,
      savedDigest: digest,
      shapes: null,
    });
    this.state = { ...this.startProfile, text, document: null };
    this.opening += 1;
    Object.assign(this, { savedProfile: profileKey(this.state), savedProfileDigest: "" });
    this._followsText = false;
    await this._read();
    this.savedText = this.text;
    this._fire();
  }

  /** Changes the document, by a copy of it that a function alters; one that is being read, after that.
   * @param {(document: Document) => void} alter
   * @returns {Promise<void> | undefined} */
  change(alter) {
    if (!this.document)
      return this._reading?.then(() => (this.document ? this.change(alter) : undefined));
    const document = structuredClone(this.document);
    alter(document);
    if (JSON.stringify(document) === JSON.stringify(this.document)) return undefined;
    return this._step({ document });
  }

  /** Changes the text.
   * @param {string} text */
  changeText(text) {
    return this._step({ text, document: null });
  }

  /** Changes the profile.
   * @param {Partial<State>} values */
  async changeProfile(values) {
    this._take(values);
    if (this._reading) await this._read();
    else this._fire(); // nothing that the server reads has changed
  }

  undo() {
    return this._travel(this.past, this.future);
  }
  redo() {
    return this._travel(this.future, this.past);
  }

  /** @param {Partial<State>} values */
  _take(values) {
    this.past.push(this.state);
    this.future = [];
    this.state = { ...this.state, ...values };
  }

  /** @param {Partial<State>} values */
  _step(values) {
    this._take(values);
    this._isStale = "document" in values;
    this._followsText = true;
    return this._read();
  }

  /** @param {State[]} from
   * @param {State[]} to */
  async _travel(from, to) {
    const state = from.pop();
    if (!state) return;
    to.push(this.state);
    this.state = state;
    this._followsText = false;
    await this._read();
  }

  /** Has the server read the state; a change meanwhile is read after it. */
  async _read() {
    this._version += 1;
    this._reading ??= this._readLatest().finally(() => {
      this._reading = null;
      this._fire();
    });
    this._fire();
    await this._reading;
  }

  async _readLatest() {
    for (let version = 0; version !== this._version; ) {
      version = this._version;
      const { text, document } = this.state;
      const project = { name: this.name, text };
      const answer = await call("read", document ? { project, document } : { project });
      if (version !== this._version) {
        // A change of the document meanwhile goes on from this text.
        if (this.state.document && this._followsText)
          this.state = { ...this.state, text: answer.text };
        continue;
      }
      // In place: undoing returns to this very state.
      Object.assign(this.state, { text: answer.text, document: answer.document });
      this.faults = answer.faults;
      this._isStale = false;
      this.shapes = answer.shapes ?? null;
    }
  }

  _fire() {
    this.dispatchEvent(new Event("change"));
  }

  /** Gives it another name; saved under that, it is another file.
   * @param {string} name */
  rename(name) {
    if (name === this.name) return;
    this.name = name;
    this._fire();
  }

  async save() {
    await this._reading;
    if (this._isStale) await this._read(); // the server did not answer
    const { name, text } = this;
    const known = name === this.savedName ? this.savedDigest : "";
    const { digest } = await call("save", { name, text, known });
    Object.assign(this, { savedText: text, savedName: name, savedDigest: digest });
    this._fire();
  }

  /** Saves the profile in a file beside the set's; returns its name, or an empty one if it was not saved.
   * @param {(name: string) => Promise<unknown>} mayOverwrite asked before another file of that name is replaced */
  async saveProfile(mayOverwrite) {
    const { request } = this;
    const { name, text, known, differs } = await call("profile-file", { project: request });
    if (differs && known !== this.savedProfileDigest && !(await mayOverwrite(name))) return "";
    const { digest } = await call("save", { name, text, known });
    Object.assign(this, { savedProfile: profileKey(request), savedProfileDigest: digest });
    this.dispatchEvent(new Event("profile-saved"));
    this._fire();
    return name;
  }
}

/** A profile as a text to compare.
 * @param {Pick<State, "layers" | "settings">} profile */
const profileKey = ({ layers, settings }) => JSON.stringify([layers, settings]);
