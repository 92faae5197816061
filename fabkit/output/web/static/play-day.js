// The day: its challenge, the days on which it was solved, and a result to share. Days are dates of the
// local calendar, since those on which the clocks change do not have 24 hours.
import { formatCount, formatMessage, html, score, stars } from "./play-draw.js";
import { memberOfDay } from "./play-families.js";

import { find } from "./play-settings.js";

/** @import { Store } from "./play-store.js" */

const DAY_MS = 864e5;

/** The date as a text that sorts, such as "2026-11-26".
 * @type {(date: Date) => string} */
export const dateKey = (date) =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");

/** Noon of another day.
 * @param {Date} date
 * @param {number} days */
const shift = (date, days) =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 12);

/** The challenge of a date: its member of a family, or easy on Mondays, hard on Sundays, and another
 * one every week.
 * @type {(data: Fabkit.Data, playable: Fabkit.Entry[], date: Date) => Fabkit.Entry} */
export function challengeOfDay(data, playable, date) {
  const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS + 3;
  const [from, to] = [0, 1].map((more) => Math.floor((((day % 7) + more) * playable.length) / 7));
  const alike = playable.slice(from, Math.max(to, from + 1));
  return memberOfDay(data, date) ?? alike[Math.floor(day / 7) % alike.length] ?? data.entries[0];
}

/** The number of days in a row up to a date, or up to the day before it.
 * @type {(days: Map<string, unknown>, date: Date) => number} */
export function streak(days, date) {
  let count = 0;
  let day = shift(date, days.has(dateKey(date)) ? 0 : -1);
  for (; days.has(dateKey(day)); day = shift(day, -1)) count += 1;
  return count;
}

/** Calls a function when the date changes: at midnight, or when a page that slept is seen again. Returns a
 * function that checks it at once.
 * @type {(changed: () => void) => () => void} */
export function watchDate(changed) {
  let shown = dateKey(new Date());
  let timer = 0;
  const check = () => {
    const now = new Date();
    const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
    window.clearTimeout(timer);
    timer = window.setTimeout(check, midnight.getTime() - now.getTime());
    if (dateKey(now) === shown) return;
    shown = dateKey(now);
    changed();
  };
  check();
  document.addEventListener("visibilitychange", check);
  for (const name of ["focus", "pageshow"]) window.addEventListener(name, check);
  return check;
}

/** The result of a date as text; undefined when its challenge was not solved on it.
 * @type {(data: Fabkit.Data, store: Store, entry: Fabkit.Entry, date: Date) => string | undefined} */
export function resultText(data, store, entry, date) {
  const { messages, language } = data;
  const result = store.days.get(dateKey(date));
  if (!result) return undefined;
  const [, hints, moves, ms] = result;
  const day = new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(date);
  return [
    `${data.title} · ${day}`,
    [entry.title, stars(entry).textContent].filter(Boolean).join(" "),
    [score(messages, [moves, ms]), formatCount(messages, "hints", hints)].join(" · "),
    formatCount(messages, "streak", streak(store.days, date)),
  ].join("\n");
}

/** A month with the days on which the challenge of the day was solved. */
export class MonthView {
  /** @param {Fabkit.Data} data
   * @param {Store} store */
  constructor(data, store) {
    this.data = data;
    this.store = store;
    this.first = new Date();
  }

  /** Turns to the month some months later; the current one is the last.
   * @type {(months: number) => void} */
  turn(months) {
    this.show(new Date(this.first.getFullYear(), this.first.getMonth() + months, 1));
  }

  /** Shows the month of a date.
   * @type {(date: Date) => void} */
  show(date) {
    const { messages, language } = this.data;
    const { days } = this.store;
    const today = new Date();
    const first = new Date(date.getFullYear(), date.getMonth(), 1, 12);
    this.first = first;
    find("month").textContent = new Intl.DateTimeFormat(language, {
      month: "long",
      year: "numeric",
    }).format(first);
    const month = dateKey(first).slice(0, 7);
    find("later").ariaDisabled = String(month >= dateKey(today).slice(0, 7));
    find("earlier").ariaDisabled = String(![...days.keys()].some((key) => key < month));
    const names = ["long", "narrow"].map(
      (width) => new Intl.DateTimeFormat(language, { weekday: /** @type {"long"} */ (width) }),
    );
    const monday = shift(first, -((first.getDay() + 6) % 7));
    const week = Array.from({ length: 7 }, (_, place) => shift(monday, place));
    const head = week.map((day) =>
      html("th", { scope: "col", abbr: names[0].format(day) }, names[1].format(day)),
    );
    const rows = [];
    const isShown = (/** @type {Date} */ day) => day.getMonth() === first.getMonth();
    for (let start = monday; start <= first || isShown(start); start = shift(start, 7)) {
      rows.push(html("tr", {}, ...week.map((_, place) => this.cell(shift(start, place), today))));
    }
    find("month-grid").replaceChildren(
      html("thead", {}, html("tr", {}, ...head)),
      html("tbody", {}, ...rows),
    );
    const counts = [
      formatCount(messages, "streak", streak(days, today)),
      formatMessage(messages.days, { count: days.size }),
    ];
    find("month-total").textContent = counts.join(" · ");
  }

  /** @type {(day: Date, today: Date) => HTMLTableCellElement} */
  cell(day, today) {
    if (day.getMonth() !== this.first.getMonth()) return html("td");
    const isSolved = this.store.days.has(dateKey(day));
    const cell = html("td", { className: isSolved ? "solved-day" : "" }, String(day.getDate()));
    if (isSolved)
      cell.append(html("span", { className: "unseen" }, `, ${this.data.messages.mark}`));
    cell.ariaCurrent = dateKey(day) === dateKey(today) ? "date" : null;
    return cell;
  }
}
