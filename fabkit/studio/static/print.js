// @ts-check
// The bill of materials, files to download, and the check of meshes from elsewhere.
import { html } from "./play-draw.js";
import { ServerError, stream } from "./server.js";

/** @typedef {import("./studio.js").Studio} Studio */

/** The kinds of files to download. */
const KINDS = ["3mf", "stl", "step", "booklet", "page", "toml"];

/** @param {number} seconds */
function hoursAndMinutes(seconds) {
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export class Print {
  /** @param {Studio} studio
   * @param {HTMLElement} section meshes can be dropped anywhere in it */
  constructor(studio, section) {
    this.studio = studio;
    /** @type {any} */
    this.bill = null;
    /** @type {number | null} */
    this.plates = null;
    /** @type {any} */
    this.report = null;
    /** What runs, to be stopped.
     * @type {AbortController | null} */
    this.running = null;
    this.list = html("dl", { className: "tune-bill" });
    this.notes = html("details", { className: "quiet" });
    this.downloads = html("div", { className: "row" });
    this.bar = html("progress", { max: 1 });
    this.step = html("span", { className: "quiet" });
    this.stop = html("button", {
      type: "button",
      className: "link",
      onclick: () => this.running?.abort(),
    });
    this.progress = html(
      "div",
      { className: "tune-progress", hidden: true },
      this.bar,
      this.step,
      this.stop,
    );
    this.files = html("input", {
      type: "file",
      multiple: true,
      accept: studio.start.meshes.join(),
      hidden: true,
    });
    this.files.addEventListener("change", () => {
      this.check([.../** @type {FileList} */ (this.files.files)]);
      this.files.value = "";
    });
    this.choose = html("button", {
      type: "button",
      className: "plain",
      onclick: () => this.files.click(),
    });
    this.hint = html("p", { className: "quiet" });
    this.verdict = html("div", { className: "tune-verdict" });
    this.titles = ["print_bill", "print_files", "print_check"].map((key) => {
      const title = html("h2");
      title.dataset.key = key;
      return title;
    });
    this.element = html(
      "div",
      { className: "tune-print" },
      html("section", {}, this.titles[0], this.list, this.notes),
      html("section", {}, this.titles[1], this.downloads, this.progress),
      html(
        "section",
        {},
        this.titles[2],
        html("div", { className: "row" }, this.choose, this.files),
        this.hint,
        this.verdict,
      ),
    );
    section.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      section.classList.add("dropping");
    });
    section.addEventListener("dragleave", () => section.classList.remove("dropping"));
    section.addEventListener("drop", (event) => {
      event.preventDefault();
      section.classList.remove("dropping");
      this.check([...(event.dataTransfer?.files ?? [])]);
    });
    this.write();
  }

  write() {
    const { studio } = this;
    for (const title of this.titles) title.textContent = studio.text(title.dataset.key ?? "");
    this.choose.textContent = studio.text("print_choose");
    this.hint.textContent = studio.text("print_drop");
    this.stop.textContent = studio.text("print_stop");
    this.downloads.replaceChildren(
      ...KINDS.map((kind) =>
        html("button", {
          type: "button",
          id: `print-${kind}`,
          className: "plain",
          textContent: studio.text(`print_${kind}`),
          onclick: () => this.download(kind),
        }),
      ),
    );
    this.writeBill();
    this.writeReport();
  }

  begin() {
    this.element.classList.add("outdated");
  }

  /** @param {any} bill null where something cannot be made */
  show(bill) {
    this.element.classList.remove("outdated");
    this.bill = bill;
    this.plates = null;
    this.writeBill();
  }

  /** @param {number} count */
  showPlates(count) {
    this.plates = count;
    this.writeBill();
  }

  writeBill() {
    const { bill, studio } = this;
    /** @type {(key: string, value: string) => HTMLElement} */
    const row = (key, value) =>
      html(
        "div",
        {},
        html("dt", { textContent: studio.text(key) }),
        html("dd", { textContent: value }),
      );
    if (!bill) {
      this.list.replaceChildren(row("print_parts", "–"));
      this.notes.hidden = true;
      return;
    }
    const { magnets, cost, pause } = bill;
    const size = `${magnets.diameter_mm} × ${magnets.height_mm} mm`;
    this.list.replaceChildren(
      row("print_parts", String(bill.parts)),
      row("print_plastic", `${bill.grams.toFixed(0)} g`),
      row(
        "print_magnets",
        magnets.count ? `${magnets.count} · ${size} ${magnets.grade}` : studio.text("print_none"),
      ),
      row("print_cost", `${cost.total.toFixed(2)} ${cost.currency}`),
      row("print_plates", this.plates === null ? "…" : String(this.plates || "–")),
      ...(pause ? [row("print_pause", `${pause.height_mm} mm`)] : []),
      ...(bill.print_seconds ? [row("print_time", hoursAndMinutes(bill.print_seconds))] : []),
    );
    this.notes.hidden = !bill.notes.length;
    this.notes.replaceChildren(
      html("summary", { textContent: studio.text("print_notes") }),
      ...bill.notes.map((/** @type {string} */ note) =>
        html("p", { textContent: note, lang: "en" }),
      ),
    );
  }

  /** Makes a call as a job, with its progress.
   * @param {string} name
   * @param {object} body */
  async job(name, body) {
    if (this.running) return this.studio.announce(this.studio.text("print_busy"));
    this.running = new AbortController();
    this.bar.removeAttribute("value");
    this.step.textContent = "";
    this.progress.hidden = false;
    try {
      return await stream(
        name,
        body,
        ({ progress, text }) => {
          if (progress === undefined) return;
          this.bar.value = progress;
          this.step.textContent = text;
        },
        this.running.signal,
      );
    } catch (error) {
      if (error instanceof ServerError || !this.running.signal.aborted) throw error;
    } finally {
      this.running = null;
      this.progress.hidden = true;
    }
  }

  /** @param {string} kind */
  download(kind) {
    return this.studio.attempt(async () => {
      const made = await this.job("make", { project: this.studio.project.request, kind });
      if (!made) return;
      const link = html("a", {
        href: `made/${made.name}?download`,
        download: made.name.split("/").pop(),
      });
      link.click();
      this.studio.announce(this.studio.text("print_made", { name: link.download }));
    });
  }

  /** Checks meshes that were dropped or chosen.
   * @param {File[]} meshes */
  check(meshes) {
    if (!meshes.length || this.running) return;
    return this.studio.attempt(async () => {
      for (const mesh of meshes) {
        const answer = await (
          await fetch(`meshes/${encodeURIComponent(mesh.name)}`, { method: "POST", body: mesh })
        ).json();
        if (answer.error) throw new ServerError(answer.error);
      }
      const names = meshes.map(({ name }) => name);
      const report = await this.job("check", { project: this.studio.project.request, names });
      if (!report) return;
      this.report = report;
      this.writeReport();
      this.verdict.scrollIntoView({ block: "nearest" });
    });
  }

  writeReport() {
    const { report, studio } = this;
    if (!report) return;
    const text = studio.text(report.ok ? "print_passed" : "print_failed", {
      count: report.parts,
      profile: report.profile,
    });
    const page = html("iframe", { src: `made/${report.page}`, title: studio.text("print_report") });
    page.setAttribute("sandbox", "");
    const frame = html(
      "details",
      { open: !report.ok },
      html("summary", { textContent: studio.text("print_report") }),
      page,
    );
    this.verdict.replaceChildren(
      html("p", { className: report.ok ? "good" : "alarm", role: "status", textContent: text }),
      html(
        "ul",
        {},
        ...report.causes.map((/** @type {string} */ cause) =>
          html("li", { textContent: cause, lang: "en" }),
        ),
      ),
      frame,
    );
  }
}
