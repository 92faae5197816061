// @ts-check
// The set file and the profile that are open, with all their earlier states. The server alone understands
// the file: it reads it, and edits it by commands, one after the other.
import { call } from "./server.js";

/** @typedef {import("./drawings.js").Thing} Thing */
/** A set file as the server reads it; see `read_project`.
 * @typedef {{ text: string, faults: { key: string, message: string, line: number }[], things: Thing[],
 *   challenges: any[], lattice?: string, marks?: Record<string, string>, flips?: boolean, rest?: string,
 *   shapes?: Fabkit.Shapes, questions?: Record<string, string> }} Reading */
/** What is undone and redone.
 * @typedef {{ reading: Reading, layers: string[], settings: Record<string, string> }} State */

/** Fires `change` when the file, the profile or their reading has changed. */
export class Project extends EventTarget {
  /** @param {Pick<State, "layers" | "settings">} profile with which every set begins */
  constructor({ layers, settings }) {
    super();
    this.name = "";
    this.startProfile = { layers, settings };
    /** @type {State} */
    this.state = {
      reading: { text: "", faults: [], things: [], challenges: [] },
      layers,
      settings,
    };
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
    /** What is done one after the other, and how much of that is waiting. */
    this._queue = Promise.resolve();
    this._waiting = 0;
  }

  get reading() {
    return this.state.reading;
  }
  get text() {
    return this.reading.text;
  }
  get faults() {
    return this.reading.faults;
  }
  /** What the set looks like; null if it has errors. */
  get shapes() {
    return this.reading.shapes ?? null;
  }
  /** Whether the text is TOML, so that it can be edited by commands. */
  get isToml() {
    return Boolean(this.reading.lattice);
  }
  get isRead() {
    return !this._waiting;
  }
  get isTextSaved() {
    return this.text === this.savedText && this.name === this.savedName;
  }
  get isProfileSaved() {
    return profileKey(this.state) === this.savedProfile;
  }
  get isSaved() {
    return this.isTextSaved && this.isProfileSaved;
  }

  /** What the server needs to know of it. */
  get request() {
    const { layers, settings } = this.state;
    return { ...this.file, layers, settings };
  }
  get file() {
    return { name: this.name, text: this.text };
  }

  /** Does something once all that was asked for before is done.
   * @template Result
   * @param {() => Result | Promise<Result>} action
   * @returns {Promise<Result>} */
  async _inTurn(action) {
    this._waiting += 1;
    const turn = this._queue.then(action);
    this._queue = turn.then(
      () => {},
      () => {},
    );
    try {
      return await turn;
    } finally {
      this._waiting -= 1;
      this._fire();
    }
  }

  /** Waits for all that was asked for. */
  whenRead() {
    return this._inTurn(() => {});
  }

  /** Replaces everything by a file.
   * @param {{ name: string, text: string, digest: string }} file */
  load({ name, text, digest }) {
    return this._inTurn(async () => {
      const reading = await call("read", { project: { name, text } });
      this.state = { ...this.startProfile, reading };
      Object.assign(this, { name, past: [], future: [], savedText: text, savedName: name });
      Object.assign(this, { savedDigest: digest, savedProfileDigest: "" });
      this.savedProfile = profileKey(this.state);
      this.opening += 1;
    });
  }

  /** Has the server edit the file.
   * @param {string} command see `COMMANDS` in commands.py
   * @param {() => object} argumentsOf of the command, once it is its turn
   * @param {(outcome: any) => void} [done] called with what the command returns, unless it is refused
   * @returns {Promise<string | undefined>} the key of the message why it was refused; empty if it is done */
  edit(command, argumentsOf, done = () => {}) {
    return this._inTurn(async () => {
      if (!this.isToml) return undefined;
      const body = { project: this.file, command, arguments: argumentsOf() };
      const { outcome, ...reading } = await call("edit", body);
      if (outcome.refusal) return outcome.refusal;
      this._take(reading);
      done(outcome);
      return "";
    });
  }

  /** Changes the text.
   * @param {string} text */
  changeText(text) {
    return this._inTurn(async () => {
      this._take(await call("read", { project: { name: this.name, text } }));
    });
  }

  /** @param {Reading} reading */
  _take(reading) {
    if (reading.text === this.text) this.state.reading = reading;
    else this._step({ reading });
  }

  /** Changes the profile.
   * @param {Partial<State>} values */
  changeProfile(values) {
    this._step(values);
    this._fire(); // nothing that the server reads has changed
  }

  /** @param {Partial<State>} values */
  _step(values) {
    this.past.push(this.state);
    this.future = [];
    this.state = { ...this.state, ...values };
  }

  undo() {
    return this._inTurn(() => this._travel(this.past, this.future));
  }
  redo() {
    return this._inTurn(() => this._travel(this.future, this.past));
  }

  /** @param {State[]} from
   * @param {State[]} to */
  _travel(from, to) {
    const state = from.pop();
    if (!state) return;
    to.push(this.state);
    this.state = state;
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

  save() {
    return this._inTurn(async () => {
      const { name, text } = this;
      const known = name === this.savedName ? this.savedDigest : "";
      const { digest } = await call("save", { name, text, known });
      Object.assign(this, { savedText: text, savedName: name, savedDigest: digest });
    });
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
