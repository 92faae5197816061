// @ts-check
// What a drawing comes to, live: area against area, the number of solutions as it is counted, one of
// them, and how hard it is.
import { formatCount, html, svg, viewBox } from "./play-draw.js";
import { boxOf, pairs } from "./play-grid.js";
import { Latest, ServerError } from "./server.js";

/** @typedef {import("./studio.js").Studio} Studio */

/** Changes within this time are solved once. */
const PAUSE_MS = 60;

/** Fills a list with texts to choose from, by their values; what is chosen stays, if it is among them.
 * @param {any} select
 * @param {Map<string, string>} texts */
function fillSelect(select, texts) {
  const chosen = select.value;
  if ([...select.options].map((option) => option.value).join() === [...texts.keys()].join()) return;
  select.replaceChildren(
    ...[...texts].map(([value, text]) => html("option", { value, textContent: text })),
  );
  if (texts.has(chosen)) select.value = chosen;
}

/** @param {string[]} texts */
const ownValues = (texts) => new Map(texts.map((text) => [text, text]));

export class Verdict {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.latest = new Latest();
    this.title = html("h2", { className: "verdict-title" });
    this.remarks = html("p", { className: "quiet" });
    this.bar = html("progress", { max: 1, hidden: true });
    this.stop = html("button", { type: "button", className: "plain", hidden: true });
    this.countAgain = html("button", { type: "button", className: "plain", hidden: true });
    this.areas = html("p", { className: "areas" });
    this.picture = svg("svg", { class: "solution", role: "img" });
    this.choice = html("select", {});
    /** What is chosen of a family, a list for each part of a member's name. */
    this.parts = html("div", { className: "verdict-parts" });
    this.element = html(
      "section",
      { className: "verdict" },
      this.choice,
      this.parts,
      this.title,
      this.bar,
      this.stop,
      this.countAgain,
      this.remarks,
      this.areas,
      this.picture,
    );
    this.title.setAttribute("aria-live", "polite");
    this.stop.addEventListener("click", () => {
      this.latest.stop();
      this.showStopped();
    });
    this.countAgain.addEventListener("click", () => {
      this.asked = "";
      this.update();
    });
    this.element.addEventListener("change", () => {
      this.asked = "";
      this.update();
    });
    /** What was asked last. */
    this.asked = "";
    /** @type {any} */
    this.answer = null;
    /** @type {Record<string, number[]> | null} */
    this.solution = null;
    this.atLeast = 0;
    this.isStopped = false;
    /** @type {unknown} */
    this.error = "";
    /** The solution in the picture.
     * @type {unknown} */
    this.drawnSolution = null;
    /** The shapes that gave it its colours.
     * @type {unknown} */
    this.drawnShapes = null;
  }

  /** @param {string} name
   * @param {Record<string, string | number>} [values] */
  text(name, values) {
    return this.studio.text(name, values);
  }

  /** Asks anew if the drawing has changed; at once, the old question is given up. */
  update() {
    const { project } = this.studio;
    if (!project.isRead) return;
    const { shapes } = project;
    if (shapes) this.showChoices(shapes);
    const key = project.reading.questions?.[this.choice.value];
    const question = shapes && JSON.stringify([key, this.challenge]);
    if (question && question !== this.asked) {
      this.asked = question;
      this.latest.stop();
      window.clearTimeout(this.timer);
      Object.assign(this, {
        answer: null,
        solution: null,
        atLeast: 0,
        isStopped: false,
        error: "",
      });
      this.timer = window.setTimeout(() => this.ask(), PAUSE_MS);
    } else if (!shapes) {
      if (this.asked) this.latest.stop();
      Object.assign(this, { asked: "", answer: null, solution: null, isStopped: false, error: "" });
      window.clearTimeout(this.timer);
    }
    this.show();
  }

  /** What is asked about: a board, a challenge, or a member of a family. */
  get challenge() {
    const parts = [...this.parts.querySelectorAll("select")].map(({ value }) => value);
    return parts.length
      ? [this.parts.dataset.prefix, ...parts].filter(Boolean).join(this.parts.dataset.join)
      : this.choice.value;
  }

  /** @param {Fabkit.Shapes} shapes */
  showChoices({ boards, challenges, families }) {
    const [main, others] = [true, false].map((isMain) =>
      boards.filter((board) => board.default === isMain),
    );
    const ids = (/** @type {{ id: string }[]} */ tables) => tables.map(({ id }) => id);
    // A family may have the name of its board.
    const nameOf = (/** @type {string} */ id) => `family ${id}`;
    const names = new Map([
      ...ownValues([...ids(main), ...ids(others), ...challenges]),
      ...ids(families).map((id) => /** @type {[string, string]} */ ([nameOf(id), id])),
    ]);
    fillSelect(this.choice, names);
    this.choice.hidden = names.size < 2;
    const family = families.find(({ id }) => nameOf(id) === this.choice.value);
    Object.assign(this.parts.dataset, { prefix: family?.prefix ?? "", join: family?.join });
    this.parts.hidden = !family;
    const groups = family?.groups ?? [];
    while (this.parts.children.length > groups.length) this.parts.lastElementChild?.remove();
    while (this.parts.children.length < groups.length) this.parts.append(html("select", {}));
    groups.forEach((/** @type {string[]} */ texts, /** @type {number} */ i) =>
      fillSelect(this.parts.children[i], ownValues(texts)),
    );
  }

  async ask() {
    const { project } = this.studio;
    const question = this.asked;
    try {
      const body = { project: project.request, challenge: this.challenge };
      const result = await this.latest.stream("solve", body, (event) => {
        if (event.solution) this.solution = event.solution;
        if (event.atLeast) this.atLeast = event.atLeast;
        if (event.answer) this.answer = event.answer;
        if (event.progress !== undefined) this.bar.value = event.progress;
        this.show();
      });
      if (question !== this.asked) return;
      if (result) this.answer = result.answer;
      else if (!this.latest.running) this.isStopped = true; // by another page
    } catch (error) {
      if (question !== this.asked) return;
      this.error = error;
    }
    this.show();
  }

  showStopped() {
    this.isStopped = true;
    this.show();
  }

  show() {
    const { project, messages } = this.studio;
    const { answer, solution, error } = this;
    const isAsking = Boolean(this.asked) && !answer && !error && !this.isStopped;
    const number = (/** @type {number} */ count) =>
      count.toLocaleString(document.documentElement.lang);
    const counted = (/** @type {string} */ key, /** @type {number} */ count) =>
      formatCount(messages, key, count).replace(String(count), number(count));
    let title = "";
    let remarks = "";
    if (answer) {
      const { status, count, upToSymmetry, reason, level } = answer;
      const differentCount = upToSymmetry ?? count;
      if (status === "impossible") [title, remarks] = [this.text("draw_impossible"), reason];
      else if (differentCount === 1) title = this.text("draw_unique");
      else if (differentCount !== null) title = counted("draw_solutions", differentCount);
      else title = this.text("draw_unknown");
      const parts = [
        ...(differentCount && count > differentCount
          ? [this.text("draw_labelled", { count: number(count) })]
          : []),
        ...(level ? [messages[`level_${level}`]] : []),
      ];
      if (parts.length) remarks = parts.join(" · ");
    } else if (error) {
      title = this.text("draw_unsolved");
      remarks = error instanceof Error ? error.message : "";
    } else if (this.isStopped) {
      title = this.atLeast
        ? this.text("draw_at_least", { count: number(this.atLeast) })
        : this.text("draw_unsolved");
    } else if (isAsking) {
      title = this.atLeast
        ? this.text("draw_at_least", { count: number(this.atLeast) })
        : solution
          ? this.text("draw_solvable")
          : this.text("draw_solving");
    } else if (project.faults.length) {
      title = counted("draw_faults", project.faults.length);
    }
    if (this.title.textContent !== title) this.title.textContent = title;
    this.title.classList.toggle("good", answer?.upToSymmetry === 1 || answer?.count === 1);
    this.title.classList.toggle(
      "wrong",
      answer?.status === "impossible" ||
        Boolean(error) ||
        (!this.asked && project.faults.length > 0),
    );
    this.remarks.textContent = remarks;
    const hasFocus = [this.stop, this.countAgain].find(
      (button) => button === document.activeElement,
    );
    this.bar.hidden = this.stop.hidden = !isAsking;
    const isLost = Boolean(error) && !(error instanceof ServerError); // no answer, rather than a refusal
    this.countAgain.hidden = !this.asked || !(this.isStopped || isLost);
    if (hasFocus?.hidden) [this.stop, this.countAgain].find((button) => !button.hidden)?.focus();
    this.stop.textContent = this.text("stop");
    this.countAgain.textContent = this.text("draw_again");
    this.bar.ariaLabel = this.text("draw_solving");
    for (const select of this.element.querySelectorAll("select"))
      select.ariaLabel = this.text("draw_challenge");
    this.showAreas();
    this.showSolution();
  }

  showAreas() {
    const { shapes } = this.studio.project;
    if (!shapes) return this.areas.replaceChildren();
    const number = (/** @type {number} */ area) =>
      Number(area.toFixed(2)).toLocaleString(document.documentElement.lang);
    const board =
      shapes.boards.find(({ id }) => id === this.choice.value) ??
      shapes.boards.find((drawn) => drawn.default);
    const texts = [this.text("draw_area_pieces", { area: number(shapes.area) })];
    if (board) {
      // Balls cover more or fewer cells, by the side on which they lie.
      const isSolved = this.answer && this.answer.status !== "impossible";
      const surplus = isSolved ? 0 : board.area - shapes.area - board.open;
      texts.push(this.text("draw_area_board", { area: number(board.area) }));
      if (board.open) texts.push(this.text("draw_area_open", { area: number(board.open) }));
      if (surplus)
        texts.push(
          this.text(surplus > 0 ? "draw_area_over" : "draw_area_lacks", {
            area: number(Math.abs(surplus)),
          }),
        );
      this.areas.classList.toggle("wrong", surplus !== 0 && this.answer?.status === "impossible");
    }
    this.areas.textContent = texts.join(" · ");
  }

  showSolution() {
    const { shapes } = this.studio.project;
    const { solution } = this;
    if (!solution || !shapes) {
      this.picture.replaceChildren();
      this.picture.setAttribute("hidden", "");
      return;
    }
    if (this.drawnSolution === solution && this.drawnShapes === shapes) return;
    Object.assign(this, { drawnSolution: solution, drawnShapes: shapes });
    const { grid } = this.studio.lattice;
    const byId = new Map(shapes.pieces.map((piece) => [piece.id, piece]));
    const rings = Object.entries(solution).map(([id, cells]) => ({
      id,
      rings: grid.ringsOf(pairs(cells)),
    }));
    this.picture.setAttribute(
      "viewBox",
      viewBox(grid, boxOf(rings.flatMap((shape) => shape.rings)), 6).join(" "),
    );
    this.picture.setAttribute("aria-label", this.text("draw_solution"));
    this.picture.removeAttribute("hidden");
    this.picture.replaceChildren(
      ...rings.map((shape) =>
        svg("path", {
          d: grid.path(shape.rings),
          fill: byId.get(shape.id)?.colour ?? "var(--silhouette)",
          class: "body",
        }),
      ),
    );
  }
}
