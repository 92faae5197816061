// The list of challenges: today's, and a shelf for each level. Pictures are drawn shortly before they
// become visible.
import { challengeOfDay, dateKey, streak } from "./play-day.js";
import { formatCount, formatMessage, html, picture, score, sizeOf, stars } from "./play-draw.js";
import { FamilyPicker, neighbourMember } from "./play-families.js";

import { find } from "./play-settings.js";

/** @import { Store } from "./play-store.js" */

/** Maximum size of a card's picture in pixels: all have the scale at which the largest fits. */
const PICTURE_PX = [140, 190];
const [TODAY_PX, LEAST_PX] = [96, 64];
const MANY = 7; // a shelf with fewer challenges needs no button to expand it
const PEEK_PX = 32; // visible part of the card before the open one
const FIRST_OPEN = 3; // so many open pieces are few enough for a first visit

/** The challenge of a first visit: the easiest with two or three open pieces, or with the fewest.
 * @type {(entries: Fabkit.Entry[]) => Fabkit.Entry} */
export function firstEntry(entries) {
  /** @param {Fabkit.Entry} entry */
  const open = (entry) => (entry.solution ? entry.count - entry.given.length : Infinity);
  const fewest = Math.max(FIRST_OPEN, Math.min(...entries.map(open)));
  return entries.find((entry) => open(entry) <= fewest) ?? entries[0];
}

/** @typedef {{ entry: Fabkit.Entry, link: HTMLElement, mark: HTMLElement, item: HTMLElement }} Card */
/** @typedef {{ element: HTMLElement, count: HTMLElement, cards: Card[] }} Shelf */

export class ChallengeList {
  /** @param {Fabkit.Data} data
   * @param {Store} store
   * @param {(entry: Fabkit.Entry) => void} open */
  constructor(data, store, open) {
    this.open = open;
    this.data = data;
    this.store = store;
    this.kind = "";
    /** Those for the days; when later ones are solved, the choice remains. */
    this.playable = data.entries.filter((entry) => entry.solution);
    this.today = challengeOfDay(data, this.playable, new Date());
    this.streak = html("span"); // the days in a row, on today's card
    /** @type {FamilyPicker[]} */
    this.pickers = [];
    this.solved = NaN; // unknown before the first update
    /** @type {Map<Element | null, Fabkit.Entry>} */
    this.links = new Map();
    /** @type {Shelf[]} */
    this.shelves = [];
    this.observer = new IntersectionObserver(
      (seen) => {
        for (const { target } of seen.filter(({ isIntersecting }) => isIntersecting)) {
          this.observer.unobserve(target);
          const entry = this.entryAt(target);
          if (!entry) continue; // the card was replaced
          const own = TODAY_PX / Math.max(...sizeOf(data, entry));
          target.append(picture(data, entry, target.closest(".today") ? own : this.unit));
        }
      },
      { rootMargin: "200px" },
    );
    const sizes = data.entries.map((entry) => sizeOf(data, entry));
    const scales = PICTURE_PX.map((px, axis) => px / Math.max(...sizes.map((size) => size[axis])));
    this.unit = Math.min(...scales); // length of a grid unit on the cards
    find("unsolved").addEventListener("change", () => this.applyFilter());
    this.build();
  }

  /** Shows the challenge of the current date.
   * @type {() => void} */
  rollOver() {
    this.today = challengeOfDay(this.data, this.playable, new Date());
    const old = find("list").children[0];
    this.links.delete(old);
    old.replaceWith(this.todayCard());
  }

  /** Builds the shelves in the current language. */
  build() {
    const { data } = this;
    const { messages, entries } = data;
    this.links = new Map();
    const levels = [...data.levels, ""].filter((level) =>
      entries.some((entry) => entry.level === level),
    );
    this.shelves = levels.map((level) => this.shelf(level));
    this.pickers = data.families.map((family) => new FamilyPicker(data, family, this.open));
    const parts = [...this.pickers, ...this.shelves].map(({ element }) => element);
    find("list").replaceChildren(this.todayCard(), ...parts);
    const kinds = ["", ...new Set(entries.map((entry) => entry.kind))];
    find("kind").replaceChildren(
      ...kinds.map((kind) => {
        const onclick = () => {
          this.kind = kind;
          this.applyFilter();
        };
        const text = messages[kind ? `kind_${kind}` : "filter_all"];
        return html("button", { type: "button", className: "chip", value: kind, onclick }, text);
      }),
    );
    find("kind").hidden = kinds.length < 3;
    this.applyFilter();
  }

  /** @type {(level: string) => Shelf} */
  shelf(level) {
    const { messages, entries } = this.data;
    const cards = entries.filter((entry) => entry.level === level).map((entry) => this.card(entry));
    const count = html("span", { className: "count" });
    const name = messages[`level_${level || "unrated"}`];
    const title = html("h3", {}, html("span", {}, name), stars(cards[0].entry), count);
    const all = html("button", { type: "button", className: "link" }, messages.shelf_all);
    const element = html(
      "section",
      { className: "shelf" },
      html("header", {}, title, all),
      html("ul", {}, ...cards.map((card) => card.item)),
    );
    const ariaLabel = `${messages.shelf_all}: ${name}`;
    Object.assign(all, { ariaLabel, ariaPressed: "false", hidden: cards.length < MANY });
    const high = Math.max(...cards.map(({ entry }) => sizeOf(this.data, entry)[1]));
    element.style.setProperty("--high", `${Math.max(LEAST_PX, high * this.unit)}px`);
    all.onclick = () => (all.ariaPressed = String(element.classList.toggle("whole")));
    return { element, count, cards };
  }

  /** A link to a challenge, with room for its picture.
   * @type {(entry: Fabkit.Entry, className: string, ...children: Node[]) => HTMLElement} */
  link(entry, className, ...children) {
    const picture = html("span", { className: "picture" });
    const link = html(
      "a",
      { href: `#${encodeURIComponent(entry.id)}`, className },
      picture,
      ...children,
    );
    this.links.set(link, entry);
    this.observer.observe(picture);
    return link;
  }

  /** @type {(entry: Fabkit.Entry) => Card} */
  card(entry) {
    const mark = html("span", { className: "mark" });
    const title = html("span", { className: "card-title" }, html("bdi", {}, entry.title));
    const link = this.link(entry, "card", title, mark);
    return { entry, link, mark, item: html("li", {}, link) };
  }

  todayCard() {
    const { today } = this;
    const { messages, language } = this.data;
    this.streak = html("span", { className: "mark" });
    const date = new Intl.DateTimeFormat(language, {
      weekday: "long",
      day: "numeric",
      month: "long",
    });
    const texts = [
      html("span", { className: "quiet" }, date.format(new Date())),
      html("strong", {}, messages.today),
      html("span", {}, html("bdi", {}, today.title)),
      html(
        "span",
        { className: "quiet" },
        stars(today),
        " ",
        messages[`level_${today.level}`] ?? "",
      ),
      this.streak,
    ];
    return this.link(today, "today", html("span", { className: "texts" }, ...texts));
  }

  /** The challenge of the card that contains an element, or undefined.
   * @type {(element: Element) => Fabkit.Entry | undefined} */
  entryAt(element) {
    return this.links.get(element.closest("a"));
  }
  get cards() {
    return this.shelves.flatMap((shelf) => shelf.cards);
  }

  /** The challenges that pass the filter. */
  get listed() {
    return this.cards.filter((card) => !card.item.hidden).map((card) => card.entry);
  }

  /** Applies the filter and counts solved challenges. */
  applyFilter() {
    for (const { element, cards, count } of this.shelves) {
      const wanted = cards.filter(({ entry }) => !this.kind || entry.kind === this.kind);
      for (const card of cards) {
        card.item.hidden =
          !wanted.includes(card) || (find("unsolved").checked && this.store.isSolved(card.entry));
      }
      element.hidden = cards.every(({ item }) => item.hidden);
      const [solved, all] = this.store.tally(wanted.map(({ entry }) => entry));
      count.textContent = all
        ? formatMessage(this.data.messages.shelf, { solved, count: all })
        : "";
      count.style.setProperty("--done", `${(100 * solved) / (all || 1)}%`);
    }
    find("nothing").hidden = this.listed.length > 0;
    for (const chip of /** @type {HTMLCollectionOf<HTMLButtonElement>} */ (find("kind").children)) {
      chip.setAttribute("aria-pressed", String(chip.value === this.kind));
    }
  }

  /** Marks the open challenge and the solved ones.
   * @type {(open: Fabkit.Entry) => void} */
  update(open) {
    const { messages, entries } = this.data;
    const { store } = this;
    const now = new Date();
    const isDone = store.days.has(dateKey(now));
    if (this.streak.dataset.days !== `${store.days.size} ${isDone}`) {
      const days = streak(store.days, now);
      this.streak.textContent = days ? formatCount(messages, "streak", days) : "";
      this.streak.classList.toggle("open", !isDone);
      this.streak.dataset.days = `${store.days.size} ${isDone}`;
    }
    for (const picker of this.pickers) picker.show(open);
    for (const { entry, link, mark } of this.cards) {
      link.ariaCurrent = entry === open ? "true" : null;
      const solved = store.isSolved(entry);
      const best = store.bestOf(entry);
      const text = !solved ? "" : best ? score(messages, best) : messages.mark;
      if (mark.textContent !== text) mark.textContent = text;
      link.classList.toggle("done", solved);
    }
    const [solved, count] = store.tally(entries);
    find("tally").textContent = formatMessage(messages.tally, { solved, count });
    if (solved !== this.solved) this.applyFilter();
    this.solved = solved;
  }

  /** Scrolls only the open challenge's shelf until its card is visible.
   * @type {(open: Fabkit.Entry) => void} */
  reveal(open) {
    const { item } = this.cards.find((card) => card.entry === open) ?? {};
    if (!item) return;
    const row = /** @type {HTMLElement} */ (item.parentElement);
    const left = item.offsetLeft - row.offsetLeft;
    const isSeen =
      left >= row.scrollLeft && left + item.offsetWidth <= row.scrollLeft + row.clientWidth;
    if (!isSeen) row.scrollLeft = left - PEEK_PX;
  }

  /** The next challenge of the path: the nearest harder one that is not solved, and after the last the
   * easiest; also after today's challenge, or one that the page does not list.
   * @type {(open: Fabkit.Entry) => Fabkit.Entry} */
  onward(open) {
    const { entries } = this.data;
    const here = open === this.today ? 0 : entries.indexOf(open) + 1;
    const rest = [...entries.slice(here), ...entries.slice(0, here)];
    const next = rest.find(
      (entry) => entry !== open && entry.status !== "impossible" && !this.store.isSolved(entry),
    );
    return next ?? this.neighbour(open, 1);
  }

  /** The challenge some places before or after another, among those listed.
   * @type {(open: Fabkit.Entry, places: number) => Fabkit.Entry} */
  neighbour(open, places) {
    if (open.family) return neighbourMember(open, places) ?? open;
    const listed = this.listed.length ? this.listed : this.data.entries;
    const here = listed.indexOf(open);
    return here < 0
      ? listed[0]
      : /** @type {Fabkit.Entry} */ (listed.at((here + places) % listed.length));
  }
}
