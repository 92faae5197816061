// The page: opens challenges, and connects list, session and tools.
import { ChallengeList, firstEntry } from "./play-challenges.js";
import { dateKey, MonthView, resultText, streak, watchDate } from "./play-day.js";
import { formatCount, formatMessage, html, picture, score, sizeOf, stars } from "./play-draw.js";
import { findEntry } from "./play-families.js";
import { complete, UNIT } from "./play-grid.js";
import { bindKeys } from "./play-input.js";
import { Session } from "./play-session.js";
import { find, fitTray, howToSteps, pieceDrawing, Settings, Zoom } from "./play-settings.js";
import { ask, deliver, openFile, parseLink, saveFile, share } from "./play-share.js";
import { Store } from "./play-store.js";

class Page {
  /** @param {Fabkit.Data} data */
  constructor(data) {
    this.data = data;
    this.messages = data.messages;
    this.settings = new Settings();
    // After the message on what was done.
    this.store = new Store(data.name, data.entries, () =>
      window.setTimeout(() => this.announce(this.messages.unkept)),
    );
    /** @type {Fabkit.Entry} */
    this.entry; // set by `open`
    this.challenges = new ChallengeList(data, this.store, (entry) => this.go(entry));
    this.month = new MonthView(data, this.store);
    this.session = new Session(data, this.store, {
      announce: (text) => this.announce(text),
      changed: (verdict) => this.changed(verdict),
      ticked: () => this.count(),
    });
    /** What the buttons do, by the names in their attribute.
     * @type {Record<string, () => void | Promise<void>>} */
    this.actions = {
      left: () => this.session.turn("left"),
      right: () => this.session.turn("right"),
      tray: () => this.session.toTray(),
      solve: () => this.confirmReveal(() => this.session.solve()),
      print: () => window.print(),
      full: () =>
        document.fullscreenElement
          ? document.exitFullscreen()
          : document.documentElement.requestFullscreen(),
      larger: () => this.zoom.step(4 / 3),
      smaller: () => this.zoom.step(3 / 4),
      help: () => this.help(),
      list: () => {
        find("nav").scrollIntoView();
        find("nav-title").focus({ preventScroll: true });
      },
      next: () => this.go(this.challenges.neighbour(this.entry, 1)),
      previous: () => this.go(this.challenges.neighbour(this.entry, -1)),
      pieces: () => this.dispatch("fabkit:pieces", null),
      solution: () => this.confirmReveal(() => this.dispatch("fabkit:solution")),
      onward: () => this.go(this.challenges.onward(this.entry)),
      days: () => this.showDays(),
      today: () => {
        find("days").close();
        this.go(this.challenges.today);
        this.focusTitle();
      },
      earlier: () => this.month.turn(-1),
      later: () => this.month.turn(1),
      close: () => find("days").close(),
      result: () => this.shareResult(),
      meter: () => {
        this.settings.set("meter", this.settings.values.meter === false);
        this.count();
      },
      share: async () => {
        const key = await share(this.session.game, this.messages);
        if (key) this.announce(this.messages[key]);
      },
      save: () => saveFile(this.store, data),
      load: () =>
        openFile((text) =>
          text === undefined
            ? this.announce(this.messages.say_unreadable)
            : this.importProgress(text),
        ),
    };
    for (const name of /** @type {const} */ (["flip", "hint", "undo", "redo", "reset"])) {
      this.actions[name] = () => this.session[name]();
    }
    for (const button of document.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => {
        if (button.getAttribute("aria-disabled") === "true") return;
        const done = /** @type {void | Promise<void>} */ (this.actions[button.dataset.do]?.());
        done?.catch(() => this.announce(this.messages.say_failed));
      });
    }
    for (const button of document.querySelectorAll(
      "[data-do=next], [data-do=previous], [data-do=onward]",
    )) {
      button.hidden = data.entries.length < 2 && !data.families.length;
    }
    find("list").addEventListener("click", (event) => this.choose(event));
    bindKeys(find("game"), this.session);
    this.zoom = new Zoom(find("stage"), this.session);
    new ResizeObserver(() => this.fit()).observe(find("tray"));
    this.setUp();
    window.addEventListener("storage", () => {
      this.store.read(this.session.game); // progress saved by another window
      this.challenges.update(this.entry);
      this.updateDay();
    });
    /** Checks whether the date has changed. */
    this.checkDate = watchDate(() => {
      this.challenges.rollOver();
      this.challenges.update(this.entry);
      this.updateDay();
    });
    document.addEventListener("fabkit:language", () => {
      this.challenges.build();
      this.updateDay();
      this.describe();
      this.session.update();
    });
    window.addEventListener("hashchange", () => {
      this.opened = this.openLink();
    });
    const { hash } = window.location;
    const named = data.entries.find(
      ({ id }) => hash === `#${id}` || hash === `#${encodeURIComponent(id)}`,
    );
    const { today } = this.challenges;
    const last = findEntry(data, this.store.open);
    const isDated = last?.family && last.family === today.family; // a calendar opens on today
    this.open(named ?? (isDated ? today : last) ?? firstEntry(data.entries));
    /** Settled once the challenge of the address is open. */
    this.opened = this.openLink();
    if (!this.settings.values.seen) this.help();
  }

  /** @param {string} text */
  announce(text) {
    find("say").textContent = text;
  }

  /** Hides what set or browser do not support, and sets up dialog, menu and keys. */
  setUp() {
    const { data } = this;
    const over = Boolean(data.ball) || data.entries.some((entry) => entry.flips);
    /** @type {HTMLElement} */ (document.querySelector("tr.over")).hidden = !over;
    /** @type {HTMLElement} */ (document.querySelector("[data-do=full]")).hidden =
      !document.fullscreenEnabled;
    const deadEnd = find("dead-end");
    deadEnd.checked = this.settings.values.deadEnd === true;
    this.session.tellDeadEnds(deadEnd.checked);
    deadEnd.addEventListener("change", () => {
      this.settings.set("deadEnd", deadEnd.checked);
      this.session.tellDeadEnds(deadEnd.checked);
    });
    find("how").addEventListener(
      "click",
      ({ target }) => /** @type {Element} */ (target).closest("details") || find("how").close(),
    );
    find("menu").addEventListener(
      "click",
      ({ target }) =>
        /** @type {Element} */ (target).closest(".item") && find("menu").hidePopover(),
    );
    document.addEventListener("keydown", (event) => {
      const factor = /** @type {Record<string, number>} */ ({ "+": 4 / 3, "-": 3 / 4 })[event.key];
      const target = /** @type {Element} */ (event.target);
      const isHere = target === document.body || find("game").contains(target);
      if (factor && isHere && !event.ctrlKey && !event.metaKey && !event.altKey)
        this.zoom.step(factor);
    });
  }

  help() {
    find("how-open").hidden = !this.entry.minus?.length;
    find("how-clues").hidden = !this.entry.clues?.length;
    find("steps").replaceChildren(...howToSteps());
    find("how").showModal();
    this.settings.set("seen", true);
  }

  /** Divides the available room so that the tray's pieces have the board's scale, if that is possible
   * with a large board. */
  fit() {
    const { style } = find("game");
    for (const [part, split, isSmaller] of PARTS) {
      style.setProperty("--part", part);
      style.setProperty("--split", split);
      this.session.refit();
      style.setProperty("--wide", find("board").style.getPropertyValue("--wide"));
      const unit = this.session.board.place.scale * UNIT;
      if (fitTray(find("tray"), unit) >= (isSmaller ? 1 : Math.floor(unit))) return;
    }
  }

  /** Opens the challenge and placements of the address; announces an invalid one. */
  async openLink() {
    const { hash } = window.location;
    if (hash.length < 2 || document.getElementById(hash.slice(1))) return;
    const link = await parseLink(this.data, hash).catch((error) => String(error.message));
    if (hash !== window.location.hash) return;
    if (typeof link === "string")
      return this.announce(this.messages[link] ?? this.messages.say_no_link);
    if (link.entry.id !== this.entry.id) this.open(link.entry);
    if (link.placements.length) this.session.loadPlacements(link.placements);
    window.history.replaceState(null, "", link.hash);
  }

  /** Reveals the solution after confirmation; the challenge then does not count as solved.
   * @param {() => void} show */
  async confirmReveal(show) {
    const { messages } = this;
    const { counts } = this.session.game;
    const isKnown = this.session.isSolved || counts.shown > 0;
    /** @type {[string, string][]} */
    const choices = [
      ["", messages.cancel],
      ["show", messages.do_solve],
    ];
    if (!isKnown && !(await ask(messages.solve_ask, choices))) return;
    if (!isKnown) this.session.game.totals.shown += 1;
    show();
  }

  /** Imports the progress of a file; also for the open challenge if it is untouched.
   * @param {string} text */
  importProgress(text) {
    const { game } = this.session;
    this.announce(this.messages[this.store.importProgress(text, game)]);
    if (
      !game.past.length &&
      ![...game.placements].some(([piece, { at }]) => at && !game.fixed.has(piece))
    ) {
      this.session.open(this.entry);
    }
    this.challenges.update(this.entry);
  }

  /** Shows today's challenge, and the days on which theirs was solved. */
  showDays() {
    const now = new Date();
    find("days-title").replaceChildren(html("bdi", {}, this.challenges.today.title));
    find("days-date").textContent = new Intl.DateTimeFormat(this.data.language, {
      dateStyle: "full",
    }).format(now);
    this.month.show(find("days").open ? this.month.first : now);
    if (!find("days").open) find("days").showModal();
  }

  /** Updates what the page shows of the day. */
  updateDay() {
    const { today } = this.challenges;
    const isSolved = this.store.days.has(dateKey(new Date()));
    find("days-result").hidden = !isSolved;
    find("result").hidden = !isSolved || this.entry !== today;
    if (find("days").open) this.showDays();
  }

  async shareResult() {
    const { data, messages, store } = this;
    const { today } = this.challenges;
    const text = resultText(data, store, today, new Date());
    if (!text) return;
    const isOnline = window.location.protocol.startsWith("http");
    const link = isOnline
      ? [`${window.location.href.split("#")[0]}#${encodeURIComponent(today.id)}`]
      : [];
    find("days").close(); // what is announced is outside
    const key = await deliver(messages, {
      title: data.title,
      text: [text, ...link].join("\n"),
    });
    if (key) this.announce(messages[key]);
  }

  /** Shows moves and time, if enabled, and whether progress is kept. */
  count() {
    find("unkept").hidden = this.store.isPersistent;
    const isShown = this.settings.values.meter !== false;
    const { moves, ms } = this.session.game.counts;
    find("meter").setAttribute("aria-pressed", String(isShown));
    find("counts").textContent = isShown ? score(this.messages, [moves, ms]) : "";
  }

  /** The result, and the best one without hints. */
  result() {
    const { hints, shown, moves, ms } = this.session.game.counts;
    const best = this.store.bestOf(this.entry);
    const mine = shown ? "" : score(this.messages, [moves, ms]);
    const isBest = !hints && !shown && String(best) === String([moves, ms]);
    const all = best && formatMessage(this.messages.best, { score: score(this.messages, best) });
    const days = this.entry === this.challenges.today && streak(this.store.days, new Date());
    const texts = [
      mine,
      days && formatCount(this.messages, "streak", days),
      isBest ? this.messages.best_now : all,
    ];
    return texts.filter(Boolean).join(" · ");
  }

  /** Opens the clicked challenge and scrolls to it.
   * @param {MouseEvent} event */
  choose(event) {
    const entry = this.challenges.entryAt(/** @type {Element} */ (event.target));
    if (!entry || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go(entry);
    this.focusTitle();
  }

  /** Focuses the challenge's title and scrolls to it. */
  focusTitle() {
    const title = find("title");
    title.focus({ preventScroll: true });
    const { top } = title.getBoundingClientRect();
    if (top < 0 || top > window.innerHeight / 2) find("game").scrollIntoView();
  }

  /** Opens a challenge and updates the address.
   * @param {Fabkit.Entry} entry */
  go(entry) {
    window.history.pushState(null, "", `#${encodeURIComponent(entry.id)}`);
    this.open(entry);
  }

  /** @param {Fabkit.Entry} entry */
  open(entry) {
    if (entry === this.entry) return;
    const isHere = document.activeElement?.closest("#play-board, #play-tray, #play-done");
    this.entry = entry;
    this.wasSolved = true; // as it was left, it was not solved now
    this.describe();
    this.session.open(entry);
    this.zoom.set(1);
    this.fit();
    window.setTimeout(() => this.challenges.reveal(entry)); // after the board is visible
    this.dispatch("fabkit:entry");
    if (isHere) this.focusTitle(); // the focused element is gone
  }

  describe() {
    const { entry } = this;
    find("title").replaceChildren(html("bdi", {}, entry.title));
    find("facts").replaceChildren(...this.facts(entry));
    find("clues").replaceChildren(...this.clueTexts(entry).map((text) => html("li", {}, text)));
    this.announce("");
    /** @type {HTMLElement} */ (document.querySelector(".tool[data-do=flip]")).hidden =
      !this.data.ball && !entry.flips;
    this.print(entry);
  }

  /** Requests something from the 3D view: of a challenge, or of the whole set.
   * @type {(name: string, id?: string | null) => void} */
  dispatch(name, id = this.entry.id) {
    document.dispatchEvent(new CustomEvent(name, { detail: { id } }));
  }

  /** The facts shown below a challenge's title.
   * @param {Fabkit.Entry} entry */
  facts(entry) {
    const { messages } = this;
    const over = this.data.ball ? messages.fact_over : entry.flips && messages.fact_flips;
    const texts = [
      messages[`level_${entry.level}`],
      formatCount(messages, "pieces", entry.count),
      entry.given.length && formatCount(messages, "given", entry.given.length),
      entry.open && formatCount(messages, "open", entry.open),
      entry.clueCount && formatCount(messages, "clues", entry.clueCount),
      over,
      this.isChequerFree(entry) && messages.fact_tones,
      entry.status === "impossible" && messages.fact_impossible,
    ];
    const known = /** @type {string[]} */ (texts.filter(Boolean));
    const items = known.map((text) => html("span", {}, text.replace(/(\d) /, "$1\u00a0")));
    return entry.stars ? [stars(entry), ...items] : items;
  }

  /** Whether pieces have squares in a second colour that no clue asks for.
   * @param {Fabkit.Entry} entry */
  isChequerFree({ pieces, clues = [] }) {
    const isToned = pieces.some((piece) => this.data.pieces[piece].orientations[0].tones);
    return isToned && !clues.some(({ look }) => look?.startsWith("#"));
  }

  /** The clues in words, for screen readers.
   * @param {Fabkit.Entry} entry */
  clueTexts(entry) {
    const { messages, pieces } = this.data;
    return (entry.clues ?? []).flatMap(({ piece, colour, look, spots }) => {
      const named =
        piece === undefined ? pieces.filter((known) => known.colour === colour) : [pieces[piece]];
      const what = named.length
        ? [
            formatMessage(messages.clue_piece, {
              pieces: named.map(({ id }) => id).join(", "),
            }),
          ]
        : [];
      if (look) what.push(messages[look.startsWith("#") ? "clue_colour" : `clue_${look}`]);
      return spots.map(([, , , , row, column]) =>
        formatMessage(messages.clue_at, { column, row, what: what.join(", ") }),
      );
    });
  }

  /** @param {Fabkit.Verdict} verdict */
  changed(verdict) {
    const { game, hand } = this.session;
    const selected = hand.piece;
    const isHeld = selected !== null;
    const isKnown = Boolean(this.entry.solution);
    /** @type {Record<string, boolean>} */
    const able = {
      left: isHeld,
      right: isHeld,
      flip: isHeld && game.canFlip(selected),
      tray: isHeld && Boolean(game.placements.get(selected).at),
      hint: this.entry.status !== "impossible" && !verdict.solved,
      solve: isKnown && !verdict.solved,
      solution: isKnown,
      undo: game.past.length > 0,
      redo: game.future.length > 0,
    };
    for (const button of document.querySelectorAll("[data-do]")) {
      const { do: name } = button.dataset;
      if (name in able) button.setAttribute("aria-disabled", String(!able[name]));
    }
    this.noteDay(verdict.solved);
    find("done").hidden = !verdict.solved;
    find("done-text").textContent = this.session.solvedMessage();
    find("done-more").textContent = verdict.solved ? this.result() : "";
    this.count();
    this.challenges.update(this.entry);
  }

  /** Notes that today's challenge was solved just now, if that is so.
   * @param {boolean} solved */
  noteDay(solved) {
    const { challenges, entry } = this;
    const { game } = this.session;
    if (solved && !this.wasSolved && !game.counts.shown) {
      this.checkDate();
      if (entry === challenges.today) this.store.saveDay(dateKey(new Date()), game);
    }
    this.wasSolved = solved;
    this.updateDay();
  }

  /** Fills the print sheet: the silhouette, at 1:1 if it fits, and the pieces.
   * @param {Fabkit.Entry} entry */
  print(entry) {
    const { data, messages } = this;
    const { unitMm, language } = data;
    const [width, height] = sizeOf(data, entry).map((side) => side * unitMm);
    const fits = width <= PRINT_MM[0] && height <= PRINT_MM[1];
    const drawing = picture(data, entry, unitMm);
    drawing.id = "play-print-region";
    drawing.classList.toggle("shrunk", !fits);
    find("print-region").replaceWith(drawing);
    for (const side of ["width", "height"])
      drawing.setAttribute(side, `${drawing.getAttribute(side)}mm`);
    const unit = new Intl.NumberFormat(language).format(unitMm);
    find("print-scale").textContent = formatMessage(messages[fits ? "print_true" : "print_small"], {
      unit,
    });
    find("print-bar").hidden = !fits;
    find("print-title").replaceChildren(html("bdi", {}, entry.title));
    const given = new Set(entry.given.map(([piece]) => piece));
    const free = entry.pieces.filter((piece) => !given.has(piece));
    find("print-pieces").replaceChildren(...free.map(pieceDrawing));
  }
}

/** The board's part of the window's height, if upright; its share of the width beside the tray; and whether
 * the tray may be drawn smaller.
 * @type {[part: string, split: string, isSmaller: boolean][]} */
const PARTS = [
  ["60dvh", "2.2fr", false],
  ["56dvh", "1.9fr", false],
  ["53dvh", "1.6fr", false],
  ["50dvh", "1.3fr", false],
  ["50dvh", "1.6fr", true],
  ["40dvh", "1fr", true],
];
/** The area that A4 and Letter both leave beside the texts. */
const PRINT_MM = [186, 170];

complete(window.FABKIT);
export const page = new Page(window.FABKIT);
