// @ts-check
// The view to tune the profile and to print: a form, the solids that it makes, the bill and the files.

import { Form } from "./form.js";
import { html } from "./play-draw.js";
import { Print } from "./print.js";
import { call, Latest, ServerError } from "./server.js";
import { Stage } from "./stage.js";

/** @typedef {import("./studio.js").Studio} Studio */

/** Plates are laid out when nothing has changed for so long: this is what takes longest. */
const QUIET_MS = 400;

/** @param {Studio} studio
 * @param {HTMLElement} section */
export const start = (studio, section) => new TuneView(studio, section);

class TuneView {
  /** @param {Studio} studio
   * @param {HTMLElement} section */
  constructor(studio, section) {
    this.studio = studio;
    this.project = studio.project;
    this.latest = new Latest();
    this.form = new Form(studio);
    this.stage = new Stage(studio, () => this.attempt(() => this.makeRest()));
    this.print = new Print(studio, section);
    this.note = html("button", {
      type: "button",
      className: "link tune-note",
      hidden: true,
      onclick: () => this.form.showFault(),
    });
    section.classList.add("tune");
    section.append(
      this.form.element,
      html(
        "div",
        { className: "tune-main" },
        this.stage.element,
        html("div", { role: "status" }, this.note),
        this.print.element,
      ),
    );
    /** What is shown or being made, so that other changes of the project make nothing. */
    this.made = "";
    /** Numbers of the latest calls. */
    this.version = this.restVersion = 0;
    /** Whether solids are being made; what else is to be made follows them. */
    this.isMaking = false;
    /** Whether everything is made but the plates. */
    this.lacksPlates = false;
    this.project.addEventListener("change", () => this.update());
    document.addEventListener("fabkit:language", () => this.write());
  }

  show() {
    this.update();
    this.stage.show();
  }

  /** Writes the texts of the current language. */
  write() {
    for (const part of [this.form, this.stage, this.print]) part.write();
  }

  update() {
    const { project } = this;
    if (this.studio.view !== "tune" || !project.shapes || !project.isRead) return;
    const request = JSON.stringify(project.request);
    if (request === this.made) return;
    this.made = request;
    this.attempt(() => this.make());
  }

  /** @param {() => Promise<unknown>} action */
  async attempt(action) {
    try {
      await action();
    } catch (error) {
      // The form shows those with a place.
      if (!(error instanceof ServerError && error.details.length)) return this.studio.fail(error);
      this.tell(this.studio.text("tune_not_made"));
      this.form.addOthers(error.details);
    }
  }

  /** @param {string} text */
  tell(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  /** Reads the profile, and makes what it changes. */
  async make() {
    const version = (this.version += 1);
    const { request } = this.project;
    this.lacksPlates = false;
    this.isMaking = true;
    this.stage.begin();
    this.print.begin();
    this.tell("");
    // The solids take longest, so they are asked for first.
    const made = this.latest.stream(
      "solids",
      { project: request, first: this.stage.part },
      (event) => {
        if (event.faults) {
          read.then(() => this.form.addFaults(event.faults));
          if (event.faults.length) this.tell(this.studio.text("tune_not_made"));
        }
        this.stage.take(event);
      },
    );
    const read = call("profile", { project: request }).then((profile) => {
      if (version === this.version) this.form.read(profile, request);
    });
    const [, result] = await Promise.all([read, made]).finally(() => {
      if (version === this.version) this.isMaking = false;
    });
    if (!result) return;
    this.stage.end();
    this.print.show(result.bill);
    this.lacksPlates = Boolean(result.bill);
    await this.makeRest();
  }

  /** Makes what is shown besides the solids, a section or a solution; then the plates. */
  async makeRest() {
    if (this.isMaking) return;
    const version = (this.restVersion += 1);
    const { request } = this.project;
    if (this.stage.isSection) {
      const cut = await this.latest.stream(
        "section",
        { project: request, part: this.stage.part },
        () => {},
      );
      if (cut) this.stage.takeSection(cut);
    } else if (this.stage.shown === "assembled") {
      const solution = await this.latest.stream("assembled", { project: request }, () => {});
      if (solution) this.stage.takeSolution(solution.parts);
    }
    await new Promise((done) => setTimeout(done, QUIET_MS));
    if (!this.lacksPlates || this.isMaking || version !== this.restVersion) return;
    const plates = await this.latest.stream("plates", { project: request }, () => {});
    if (!plates) return;
    this.lacksPlates = false;
    this.form.addFaults(plates.faults);
    this.stage.takePlates(plates.plates);
    this.print.showPlates(plates.plates.length);
  }
}
