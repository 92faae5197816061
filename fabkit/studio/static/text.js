// @ts-check
// The set file as text: shown as it changes, edited, with its errors at their lines.
import { html } from "./play-draw.js";

/** @typedef {import("./studio.js").Studio} Studio */

/** Typing is read after a pause of this length. */
const PAUSE_MS = 350;

export class TextView {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.title = html("h2", {});
    this.area = html("textarea", { spellcheck: false, rows: 12, id: "studio-text" });
    this.area.setAttribute("autocapitalize", "off");
    this.area.setAttribute("wrap", "off");
    this.faults = html("ol", { className: "faults" });
    this.element = html("section", { className: "text-view" }, this.title, this.faults, this.area);
    /** Whether there is something that was typed and not read; what of it is being read. */
    this.isTyped = false;
    this.sent = "";
    this.area.addEventListener("input", () => {
      this.isTyped = true;
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.read(), PAUSE_MS);
    });
    this.area.addEventListener("blur", () => this.read());
  }

  /** Has what was typed read. */
  read() {
    window.clearTimeout(this.timer);
    // A text area knows no other ends of lines.
    const { text } = this.studio.project;
    const isWindows = text.includes("\r\n");
    const typed = isWindows ? this.area.value.replaceAll("\n", "\r\n") : this.area.value;
    if (typed === text) this.isTyped = false;
    if (!this.isTyped || typed === this.sent) return;
    this.sent = typed;
    const change = () => this.studio.project.changeText(typed);
    this.studio.attempt(() => change().finally(() => (this.sent = "")));
  }

  update() {
    const { project } = this.studio;
    this.title.textContent = this.studio.text("draw_text");
    this.area.ariaLabel = this.studio.text("draw_text");
    const isTyping = document.activeElement === this.area;
    if (this.area.value === project.text.replaceAll("\r\n", "\n")) {
      this.isTyped = false;
    } else if (project.isRead && !isTyping && !this.isTyped) {
      const { scrollTop } = this.area;
      this.area.value = project.text;
      this.area.scrollTop = scrollTop;
    }
    if (!project.isRead) return;
    this.faults.replaceChildren(
      ...project.faults.map(({ key, message, line }) => {
        const place = key ? `${key}: ` : "";
        const button = html("button", {
          type: "button",
          className: "link",
          textContent: `${line}: ${place}${message}`,
        });
        button.addEventListener("click", () => this.goTo(line));
        return html("li", {}, button);
      }),
    );
  }

  /** Selects a line.
   * @param {number} line */
  goTo(line) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    this.area.scrollTop = Math.max(
      0,
      (line - 4) * (this.area.scrollHeight / Math.max(lines.length, 1)),
    );
  }
}
