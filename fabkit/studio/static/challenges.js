// @ts-check
// The view "Challenges": makes new ones, and shows all with their levels, to choose, sort and play.
import { formatCount, html, picture, sizeOf, stars } from "./play-draw.js";
import { complete } from "./play-grid.js";
import { Latest, ServerError } from "./server.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** A challenge in a set file.
 * @typedef {Record<string, any> & { id: string }} Statement */
/** @typedef {{ solutions: number | null, complete: boolean, score: number | null }} Facts */
/** Challenges and their page.
 * @typedef {{ page: string, facts: Record<string, Facts>, notes: string[], data: Fabkit.Data }} Listing */
/** A challenge in the list; its statement is known if it is or was in the set file, or is new.
 * @typedef {{ id: string, entry: Fabkit.Entry, place: number, data: Fabkit.Data, facts: Facts,
 *   statement?: Statement, isNew: boolean, item: HTMLElement, keep?: HTMLInputElement }} Card */

/** Maximum size of a card's picture in pixels. */
const PICTURE_PX = [168, 120];

/** The data of a made page.
 * @param {string} page
 * @returns {Promise<Fabkit.Data>} */
async function dataOf(page) {
  const script = await (await fetch(`made/${page.replace("index.html", "data.js")}`)).text();
  const data = JSON.parse(script.slice(script.indexOf("=") + 1, script.lastIndexOf(";")));
  complete(data);
  return data;
}

/** The challenges of the open set and their page, gathered once for a state of the project. */
class Listings {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.calls = new Latest();
    this.key = "";
    /** @type {Promise<Listing | undefined>} */
    this.latest = Promise.resolve(undefined);
    /** Challenges to play that are not in the set, by id.
     * @type {Map<string, Statement>} */
    this.tried = new Map();
    /** The challenge to play next. */
    this.wanted = "";
  }

  /** The challenges; undefined when others have been asked for meanwhile.
   * @param {(share: number) => void} onProgress
   * @returns {Promise<Listing | undefined>} */
  async get(onProgress) {
    const project = this.studio.project.request;
    const kept = new Set(statementsOf(this.studio).map(({ id }) => id));
    const more = [...this.tried.values()].filter(({ id }) => !kept.has(id));
    const key = JSON.stringify([project, more]);
    if (key !== this.key) {
      this.key = key;
      this.latest = this._get({ project, more }, onProgress).catch((error) => {
        if (this.key === key) this.key = ""; // it is tried again
        throw error;
      });
    }
    return this.latest;
  }

  /** @param {object} body
   * @param {(share: number) => void} onProgress */
  async _get(body, onProgress) {
    const listing = await this.calls.stream("challenges", body, ({ progress }) =>
      onProgress(progress),
    );
    return listing && { ...listing, data: await dataOf(listing.page) };
  }
}

/** @type {Listings | undefined} */
let shared;
/** What the views "Challenges" and "Play" share.
 * @param {Studio} studio */
export const listingsOf = (studio) => (shared ??= new Listings(studio));

/** The challenges in the set file.
 * @param {Studio} studio
 * @returns {Statement[]} */
const statementsOf = ({ project }) => project.reading.challenges;

/** A document as text, whatever the order of its keys.
 * @param {unknown} document */
const sortedJson = (document) =>
  JSON.stringify(document, (_, part) =>
    part?.constructor === Object ? Object.fromEntries(Object.entries(part).sort()) : part,
  );

/** Whether the open set can be read, and is.
 * @param {Studio} studio */
export const isReadable = ({ project }) =>
  project.isRead && Boolean(project.shapes) && !project.faults.length;

/** An element with a message, which follows the language.
 * @param {Studio} studio
 * @param {keyof HTMLElementTagNameMap} tag
 * @param {string} key
 * @param {object} [properties] */
export function worded(studio, tag, key, properties = {}) {
  const element = html(tag, { ...properties, textContent: studio.text(key) });
  element.dataset.text = key;
  return element;
}

class ChallengesView {
  /** @param {Studio} studio
   * @param {HTMLElement} section */
  constructor(studio, section) {
    this.studio = studio;
    this.section = section;
    this.listings = listingsOf(studio);
    this.generating = new Latest();
    /** All challenges by id, also those that were removed, which may come back by undo.
     * @type {Map<string, Card>} */
    this.cards = new Map();
    /** @type {Set<string>} */
    this.removed = new Set();
    /** The set file without its challenges, of the list. */
    this.rest = "";
    /** @type {Map<Element, Card>} */
    this.pictures = new Map();
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting))
          this.drawPicture(target);
      },
      { rootMargin: "200px" },
    );
    /** @type {(key: string, value: string, min: number, max?: number) => [HTMLElement, HTMLInputElement]} */
    const number = (key, value, min, max) =>
      this.field(
        key,
        html("input", { type: "number", value, min: String(min), max: String(max ?? "") }),
      );
    const [countLabel, count] = number("chall_count", "10", 1, 200);
    const kinds = ["given", "cells", "colours", "marks"];
    const [kindLabel, kind] = this.field(
      "chall_kind",
      html(
        "select",
        {},
        ...kinds.map((name) => this.option(`chall_kind_${name}`, { value: name })),
      ),
    );
    const [givenLabel, given] = number("chall_given", "", 1);
    const [minimalLabel, minimal] = this.field(
      "chall_minimal",
      html("input", { type: "checkbox" }),
    );
    const [regionLabel, region] = this.field("chall_of", html("select"));
    const [seedLabel, seed] = number("chall_seed", "1", 0, 2 ** 32 - 1);
    const [secondsLabel, seconds] = number("chall_seconds", "60", 1, 3600);
    count.required = seed.required = seconds.required = true;
    const levelFields = ["starter", "junior", "expert", "master", "wizard"].map((level) =>
      this.field(
        `level_${level}`,
        html("input", { type: "checkbox", value: level, checked: true }),
      ),
    );
    const levels = html(
      "fieldset",
      {},
      worded(studio, "legend", "chall_levels"),
      ...levelFields.map(([label]) => label),
    );
    this.make = /** @type {HTMLButtonElement} */ (
      worded(studio, "button", "chall_generate", { type: "submit", className: "main" })
    );
    this.stop = worded(studio, "button", "chall_stop", {
      type: "button",
      className: "plain",
      hidden: true,
    });
    this.progress = html("progress", { hidden: true, max: 1 });
    this.outcome = html("p", { className: "quiet" });
    this.outcome.role = "status";
    this.form = html(
      "form",
      { className: "chall-form" },
      worded(studio, "h2", "chall_new"),
      countLabel,
      regionLabel,
      kindLabel,
      givenLabel,
      minimalLabel,
      levels,
      seedLabel,
      secondsLabel,
      html("div", { className: "under" }, this.make, this.stop),
      this.progress,
      this.outcome,
    );
    this.fields = {
      count,
      kind,
      given,
      minimal,
      region,
      seed,
      seconds,
      levels: levelFields.map(([, box]) => box),
    };
    minimal.addEventListener("change", () => {
      given.disabled = minimal.checked;
    });
    region.addEventListener("change", () => {
      kind.disabled = region.value.startsWith("of ");
    }); // only pieces are given
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.stop.hidden) studio.attempt(() => this.generate());
    });
    this.stop.addEventListener("click", () => this.generating.stop());

    const [showLabel, shown] = this.field(
      "chall_show",
      html(
        "select",
        {},
        ...["all", "set", "new", "catalog"].map((name) =>
          this.option(`chall_show_${name}`, { value: name }),
        ),
      ),
    );
    const [levelLabel, level] = this.field(
      "chall_level",
      html(
        "select",
        {},
        this.option("chall_every", { value: "" }),
        ...levelFields.map(([, { value }]) => this.option(`level_${value}`, { value })),
      ),
    );
    const [sortLabel, sort] = this.field(
      "chall_sort",
      html(
        "select",
        {},
        ...["level", "name", "pieces"].map((name) =>
          this.option(`chall_sort_${name}`, { value: name }),
        ),
      ),
    );
    this.filters = { shown, level, sort };
    for (const filter of [shown, level, sort]) filter.addEventListener("change", () => this.list());
    this.notice = html("p", { className: "notice", hidden: true });
    this.wait = html("progress", { hidden: true, max: 1, className: "chall-wait" });
    this.count = html("p", { className: "quiet" });
    this.grid = html("ul", { className: "chall-list" });
    section.replaceChildren(
      html(
        "div",
        { className: "chall" },
        this.form,
        html(
          "div",
          { className: "chall-side" },
          html("div", { className: "chall-filters" }, showLabel, levelLabel, sortLabel, this.count),
          worded(studio, "p", "chall_explain", { className: "quiet" }),
          this.wait,
          this.notice,
          this.grid,
        ),
      ),
    );
    this.count.role = "status";
    this.labelProgress();
    studio.project.addEventListener(
      "change",
      () => this.isShown && studio.attempt(() => this.update()),
    );
    document.addEventListener("fabkit:language", () => {
      this.fillKinds();
      this.list();
    });
  }

  get isShown() {
    return !this.section.hidden;
  }
  show() {
    return this.studio.attempt(() => this.update());
  }

  /** @param {string} key
   * @param {object} [properties] */
  option(key, properties = {}) {
    return /** @type {HTMLOptionElement} */ (worded(this.studio, "option", key, properties));
  }

  /** A labelled field.
   * @template {HTMLElement} Field
   * @param {string} key
   * @param {Field} field
   * @returns {[label: HTMLElement, field: Field]} */
  field(key, field) {
    return [html("label", {}, worded(this.studio, "span", key), field), field];
  }

  labelProgress() {
    this.progress.ariaLabel = this.studio.text("chall_generate");
    this.wait.ariaLabel = this.studio.text("chall_reading");
  }

  /** Fills in the shapes that challenges can fill, in the current language. */
  fillKinds() {
    const {
      fields: { region, kind },
      studio,
    } = this;
    const { boards = [], challenges = [] } = studio.project.shapes ?? {};
    const begun = statementsOf(studio)
      .filter(({ given, clue }) => !given?.length && !clue?.length)
      .map(({ id }) => id)
      .filter((id) => challenges.includes(id));
    const chosen = region.options.length ? region.value : null;
    /** @type {HTMLOptionElement[]} */
    const options = boards.map(({ id, default: isDefault }) =>
      html("option", { value: `board ${id}`, textContent: id, selected: isDefault }),
    );
    const isOfBoard = boards.some(({ default: isDefault }) => isDefault);
    if (!isOfBoard) options.unshift(this.option("chall_of_shapes", { value: "" }));
    options.push(...begun.map((id) => html("option", { value: `of ${id}`, textContent: id })));
    if (begun.length > 1) options.push(this.option("chall_of_all", { value: "of all" }));
    region.replaceChildren(...options);
    if (options.some(({ value }) => value === chosen)) region.value = String(chosen);
    const marks = Object.keys(studio.project.reading.marks ?? {}).length;
    /** @type {HTMLOptionElement} */ (kind.options[3]).hidden = !marks;
    this.labelProgress();
  }

  /** Brings the list up to date with the project. */
  async update() {
    const {
      studio,
      studio: { project },
    } = this;
    if (!project.isRead) return;
    const isGood = isReadable(studio);
    this.make.setAttribute("aria-disabled", String(!isGood));
    this.say(isGood ? "" : studio.text("chall_faults"));
    this.grid.hidden = !isGood;
    if (!isGood) return;
    const restText = JSON.stringify([project.name, project.reading.rest]);
    if (restText !== this.rest) {
      this.rest = restText;
      this.cards.clear();
      this.removed.clear();
      this.listings.tried.clear();
      this.grid.replaceChildren();
    }
    this.fillKinds();
    const isKnown = (/** @type {Statement} */ statement) =>
      sortedJson(this.cards.get(statement.id)?.statement) === sortedJson(statement);
    if (this.cards.size && statementsOf(studio).every(isKnown)) return this.list();
    this.wait.removeAttribute("value");
    this.wait.hidden = false;
    try {
      const listing = await this.listings.get((share) => {
        this.wait.value = share;
      });
      if (!listing || restText !== this.rest) return;
      for (const card of this.cards.values()) if (!card.isNew) this.cards.delete(card.id);
      this.take(listing, {});
      this.say(listing.notes.join("\n"));
      this.list();
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.say(error.message);
    } finally {
      this.wait.hidden = true;
    }
  }

  /** @param {string} text */
  say(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  /** Adds challenges to the list; the statements are those of new ones.
   * @param {Omit<Listing, "notes">} listing
   * @param {Record<string, Statement>} statements */
  take({ data, facts }, statements) {
    const stated = new Map(statementsOf(this.studio).map((statement) => [statement.id, statement]));
    data.entries.forEach((entry, place) => {
      const { id } = entry;
      const cardBefore = this.cards.get(id);
      const statement = stated.get(id) ?? statements[id] ?? cardBefore?.statement;
      const isNew = id in statements || Boolean(cardBefore?.isNew);
      const card = {
        id,
        entry,
        place,
        data,
        facts: facts[id],
        statement,
        isNew,
        item: html("li", { className: "chall-card" }),
      };
      this.cards.set(id, card);
      this.removed.delete(id);
    });
  }

  async generate() {
    const {
      studio,
      fields: { count, kind, given, minimal, region, seed, seconds, levels },
    } = this;
    if (!isReadable(studio)) return;
    const [regionKind, regionId] = region.value.split(" ");
    const chosenLevels = levels.filter(({ checked }) => checked).map(({ value }) => value);
    const givenCount = minimal.checked ? "minimal" : given.value;
    const { rest } = this;
    this.busy(true);
    this.outcome.textContent = "";
    try {
      const made = await this.generating.stream(
        "generate",
        {
          project: studio.project.request,
          count: Number(count.value),
          seed: Number(seed.value),
          seconds: Number(seconds.value),
          levels: chosenLevels.length ? chosenLevels : levels.map(({ value }) => value),
          ...(!kind.disabled && kind.value !== "given" && { clues: kind.value }),
          ...(givenCount && { given: givenCount }),
          ...(regionKind && { [regionKind]: regionId }),
        },
        ({ progress }) => {
          this.progress.value = progress;
        },
      );
      if (!made || rest !== this.rest) return;
      const ids = Object.keys(made.challenges);
      const counted = formatCount(studio.messages, "chall_made", ids.length);
      this.outcome.textContent = made.missing ? `${counted}: ${made.missing}` : counted;
      if (!ids.length) return;
      for (const card of this.cards.values())
        if (card.isNew && !this.isKept(card)) this.cards.delete(card.id);
      this.take({ ...made, data: await dataOf(made.page) }, made.challenges);
      this.filters.shown.value = "new";
      this.list();
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.outcome.textContent = error.message;
    } finally {
      this.busy(false);
    }
  }

  /** @param {boolean} isBusy */
  busy(isBusy) {
    const focused = document.activeElement;
    this.progress.value = 0;
    this.progress.hidden = this.stop.hidden = !isBusy;
    this.make.hidden = isBusy;
    if (focused === this.make) this.stop.focus();
    if (focused === this.stop) this.make.focus();
  }

  /** Whether a challenge is in the set file.
   * @param {Card} card */
  isKept({ id }) {
    return statementsOf(this.studio).some((statement) => statement.id === id);
  }

  /** @param {Card} card */
  titleOf({ id, data, place, isNew }) {
    return isNew ? id : (data.titles[window.FABKIT.language ?? "en"]?.[place] ?? id);
  }

  /** Shows the challenges that pass the filters. */
  list() {
    const {
      filters: { shown, level, sort },
      studio: { messages },
    } = this;
    /** @type {Record<string, (card: Card) => boolean>} */
    const passes = {
      all: () => true,
      set: (card) => this.isKept(card) || card.entry.kind === "board",
      new: (card) => card.isNew,
      catalog: (card) => !card.statement && card.entry.kind !== "board",
    };
    for (const { id } of statementsOf(this.studio)) this.removed.delete(id); // brought back by undo
    const cards = [...this.cards.values()].filter(({ id }) => !this.removed.has(id));
    const listed = cards.filter(
      (card) => passes[shown.value](card) && (!level.value || card.entry.level === level.value),
    );
    const levelOf = (/** @type {Card} */ { entry, data }) =>
      entry.level ? data.levels.indexOf(entry.level) : data.levels.length;
    /** @type {Record<string, (a: Card, b: Card) => number>} */
    const orders = {
      level: (a, b) => levelOf(a) - levelOf(b) || (a.facts.score ?? 0) - (b.facts.score ?? 0),
      name: (a, b) =>
        this.titleOf(a).localeCompare(this.titleOf(b), document.documentElement.lang, {
          numeric: true,
        }),
      pieces: (a, b) => piecesToPlace(a) - piecesToPlace(b),
    };
    listed.sort((a, b) => orders[sort.value](a, b) || orders.level(a, b));
    this.count.textContent = formatCount(messages, "chall_listed", listed.length);
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const hadFocus = this.grid.contains(active);
    for (const card of listed) this.fill(card);
    this.grid.replaceChildren(...listed.map(({ item }) => item)); // which takes the focus away
    if (hadFocus) (active.isConnected ? active : this.filters.shown).focus({ preventScroll: true });
  }

  /** Fills in a card in the current language, or updates it.
   * @param {Card} card */
  fill(card) {
    const {
      studio,
      studio: { messages },
    } = this;
    const { item, entry, facts } = card;
    const language = document.documentElement.lang;
    if (item.dataset.language === language) {
      if (card.keep) card.keep.checked = this.isKept(card);
      return;
    }
    item.dataset.language = language;
    const title = this.titleOf(card);
    const picture = html("span", { className: "picture" });
    this.pictures.set(picture, card);
    this.observer.observe(picture);
    const count = facts.solutions?.toLocaleString(language);
    const solutions =
      facts.complete || !count
        ? formatCount(messages, "chall_solutions", facts.solutions ?? 0)
        : studio.text("chall_at_least", { count });
    const texts = [
      formatCount(messages, "chall_place", piecesToPlace(card)),
      facts.complete && count
        ? solutions.replace(String(facts.solutions), count)
        : facts.solutions
          ? solutions
          : studio.text("chall_uncounted"),
    ];
    const level = html(
      "p",
      { className: "quiet" },
      stars(entry),
      " ",
      messages[`level_${entry.level || "unrated"}`],
    );
    const buttons = html(
      "div",
      { className: "chall-do" },
      this.button("chall_play", title, () => this.play(card)),
    );
    const head = html("h3", {}, html("bdi", {}, title));
    const parts = [picture, head, level, html("p", { className: "quiet" }, texts.join(" · "))];
    if (card.statement) {
      card.keep = html("input", { type: "checkbox", checked: this.isKept(card) });
      card.keep.ariaLabel = `${studio.text("chall_keep")}: ${title}`;
      const keep = html(
        "label",
        { className: "chall-keep" },
        card.keep,
        html("span", {}, studio.text("chall_keep")),
      );
      card.keep.addEventListener("change", () =>
        studio.attempt(() => this.keep(card, Boolean(card.keep?.checked))),
      );
      buttons.append(this.button("chall_remove", title, () => this.remove(card)));
      parts.push(keep);
    } else {
      parts.push(
        html(
          "p",
          { className: "chall-keep quiet" },
          studio.text(entry.kind === "board" ? "chall_board" : "chall_catalog"),
        ),
      );
    }
    item.replaceChildren(...parts, buttons);
  }

  /** @param {string} key
   * @param {string} title
   * @param {() => unknown} action */
  button(key, title, action) {
    const text = this.studio.text(key);
    const button = html(
      "button",
      { type: "button", className: "plain", ariaLabel: `${text}: ${title}` },
      text,
    );
    button.addEventListener("click", () => this.studio.attempt(action));
    return button;
  }

  /** @param {Element} target */
  drawPicture(target) {
    this.observer.unobserve(target);
    const card = this.pictures.get(target);
    this.pictures.delete(target);
    if (!card) return;
    const { data, entry } = card;
    const size = sizeOf(data, entry);
    target.append(picture(data, entry, Math.min(...PICTURE_PX.map((px, axis) => px / size[axis]))));
  }

  /** Puts a challenge into the set file, or takes it out.
   * @param {Card} card
   * @param {boolean} isKept */
  async keep(card, isKept) {
    const { studio } = this;
    const { id } = card;
    const kept = isKept ? { name: id, table: card.statement } : { name: id };
    await studio.project.edit("challenge", () => kept);
    studio.announce(
      studio.text(isKept ? "chall_kept" : "chall_dropped", { title: this.titleOf(card) }),
    );
  }

  /** Removes a challenge from the list, and from the set file.
   * @param {Card} card */
  async remove(card) {
    const { studio } = this;
    this.listings.tried.delete(card.id);
    if (this.isKept(card)) await this.keep(card, false);
    this.removed.add(card.id);
    this.list();
    studio.announce(studio.text("chall_removed", { title: this.titleOf(card) }));
  }

  /** @param {Card} card */
  play(card) {
    if (card.statement && !this.isKept(card)) this.listings.tried.set(card.id, card.statement);
    this.listings.wanted = card.id;
    return this.studio.show("play");
  }
}

/** The number of pieces to place.
 * @param {Card} card */
const piecesToPlace = ({ entry }) => entry.count - entry.given.length;

/** @param {Studio} studio
 * @param {HTMLElement} section */
export function start(studio, section) {
  return new ChallengesView(studio, section);
}
