// Families: challenges that are made when they are chosen, such as a date or a roll of dice.
import { html } from "./play-draw.js";
import { key, pairs } from "./play-grid.js";

/** The members made so far, by their ids: a challenge is one object.
 * @type {Map<string, Fabkit.Entry>} */
const members = new Map();
/** A group of so many numbers, from 1 on, is one of days. */
const DAYS = 31;

/** Whether choices go together: on different cells, and not excluded.
 * @type {(family: Fabkit.Family, choices: Fabkit.Choice[]) => boolean} */
function areValid({ without }, choices) {
  const cells = choices.flatMap(([, flat]) => pairs(flat).map(([x, y]) => key(x, y)));
  const texts = choices.map(([text]) => text);
  return (
    new Set(cells).size === cells.length &&
    !without.some((names) => names.every((name) => texts.includes(name)))
  );
}

/** The member with one choice of each group; null when they do not go together.
 * @type {(family: Fabkit.Family, places: number[]) => Fabkit.Entry | null} */
export function memberOf(family, places) {
  const choices = family.groups.map((group, number) => group[places[number]]);
  if (!areValid(family, choices)) return null;
  const texts = choices.map(([text]) => text);
  const id = [family.prefix, ...texts].filter(Boolean).join(family.join);
  const name = `${family.id} ${id}`;
  if (!members.has(name)) members.set(name, makeMember(family, choices, places, id));
  return members.get(name) ?? null;
}

/** @type {(family: Fabkit.Family, choices: Fabkit.Choice[], places: number[], id: string) =>
 *   Fabkit.Entry} */
function makeMember(family, choices, places, id) {
  const minus = choices.flatMap(([, cells]) => cells);
  const gone = new Set(pairs(minus).map(([x, y]) => key(x, y)));
  /** @param {Fabkit.Point} cell */
  const stays = ([x, y]) => !gone.has(key(x, y));
  const clues = (family.clues ?? []).map((clue) => ({
    ...clue,
    spots: clue.spots.filter((spot) => pairs(spot[3]).every(stays)),
  }));
  const title = id.replaceAll("-", " ");
  return {
    id,
    mark: family.mark,
    title: title[0].toUpperCase() + title.slice(1),
    kind: "challenge",
    flips: family.flips,
    halves: 1,
    pieces: family.pieces,
    count: family.pieces.length,
    given: [],
    cells: pairs(family.cells).filter(stays).flat(),
    rings: family.rings,
    minus,
    blocked: family.blocked,
    blocks: family.blocked ? choices.map(([, cells]) => cells) : [],
    clueCount: family.clueCount,
    open: Math.max(family.open - gone.size, 0),
    clues: clues.filter(({ spots }) => spots.length),
    board: family.board,
    family,
    choice: places,
    blockers: family.blocked ? choices.map(([, , blocker = []]) => blocker) : [],
  };
}

/** The member of an id, ignoring case.
 * @type {(family: Fabkit.Family, id: string) => Fabkit.Entry | null} */
function findMember(family, id) {
  const prefix = family.prefix ? `${family.prefix.toLowerCase()}${family.join}` : "";
  if (!id.toLowerCase().startsWith(prefix)) return null;
  const texts = id.toLowerCase().slice(prefix.length).split(family.join);
  if (texts.length !== family.groups.length) return null;
  const places = family.groups.map((group, number) =>
    group.findIndex(([text]) => text.toLowerCase() === texts[number]),
  );
  return places.includes(-1) ? null : memberOf(family, places);
}

/** The challenge of an id: one of the page, or a member of a family.
 * @type {(data: Fabkit.Data, id: string) => Fabkit.Entry | undefined} */
export function findEntry(data, id) {
  const known = data.entries.find((entry) => entry.id === id);
  if (known) return known;
  for (const family of data.families) {
    const member = findMember(family, id);
    if (member) return member;
  }
  return undefined;
}

/** The names of twelve months or seven weekdays in a language.
 * @type {(language: string, part: "month" | "weekday", width: "short" | "long") => string[]} */
function datePartNames(language, part, width) {
  const format = new Intl.DateTimeFormat(language, { [part]: width });
  const days = part === "month" ? 12 : 7;
  // 1 January 2023 was a Sunday.
  const dates = Array.from({ length: days }, (_, i) =>
    part === "month" ? new Date(2023, i, 1) : new Date(2023, 0, 1 + i),
  );
  return dates.map((date) => format.format(date).toLowerCase().replace(".", ""));
}

/** The place in a group of days, months or weekdays of those of a date; -1 in any other group.
 * @type {(data: Fabkit.Data, group: Fabkit.Choice[], date: Date) => number} */
function placeOfDay({ translations }, group, date) {
  const texts = group.map(([text]) => text.toLowerCase());
  const isDays = texts.length === DAYS && texts.every((_, i) => texts.includes(String(i + 1)));
  if (isDays) return texts.indexOf(String(date.getDate()));
  for (const language of Object.keys(translations)) {
    for (const part of /** @type {const} */ (["month", "weekday"])) {
      const [short, long] = /** @type {const} */ (["short", "long"]).map((width) =>
        datePartNames(language, part, width),
      );
      const count = long.length;
      if (count !== texts.length) continue;
      for (let first = 0; first < count; first++) {
        /** @type {(text: string, i: number) => boolean} */
        const isNamed = (text, i) =>
          text === short[(first + i) % count] ||
          (text.length > 2 && long[(first + i) % count].startsWith(text));
        // Not all, since abbreviations differ.
        if (3 * texts.filter(isNamed).length < 2 * count) continue;
        const number = part === "month" ? date.getMonth() : date.getDay();
        return (number - first + count) % count;
      }
    }
  }
  return -1;
}

/** The member of a date, in a family whose groups are days, months or weekdays.
 * @type {(data: Fabkit.Data, date: Date) => Fabkit.Entry | undefined} */
export function memberOfDay(data, date) {
  for (const family of data.families) {
    const places = family.groups.map((group) => placeOfDay(data, group, date));
    const member = places.includes(-1) ? null : memberOf(family, places);
    if (member) return member;
  }
  return undefined;
}

/** The member some places before or after another, in the family's order.
 * @type {(entry: Fabkit.Entry, places: number) => Fabkit.Entry | null} */
export function neighbourMember({ family, choice }, places) {
  const { groups } = /** @type {Fabkit.Family} */ (family);
  const next = [.../** @type {number[]} */ (choice)];
  for (let tries = 0; tries < 1000; tries++) {
    for (let number = groups.length - 1; number >= 0; number--) {
      const size = groups[number].length;
      next[number] = (next[number] + places + size) % size;
      if (next[number] !== (places > 0 ? 0 : size - 1)) break;
    }
    const member = memberOf(/** @type {Fabkit.Family} */ (family), next);
    if (member) return member;
  }
  return null;
}

/** Chooses a member of a family: a list of each group, and buttons for today and for chance. */
export class FamilyPicker {
  /** @param {Fabkit.Data} data
   * @param {Fabkit.Family} family
   * @param {(member: Fabkit.Entry) => void} open */
  constructor(data, family, open) {
    const { messages } = data;
    this.family = family;
    this.lists = family.groups.map((group, number) => {
      const options = group.map(([text], place) => html("option", { value: String(place) }, text));
      const list = html("select", { ariaLabel: `${family.title} ${number + 1}` }, ...options);
      list.addEventListener("change", () => choose(this.lists.map(({ value }) => Number(value))));
      return list;
    });
    this.note = html("p", { className: "quiet" });
    /** @param {number[]} places */
    const choose = (places) => {
      const member = memberOf(family, places);
      this.note.textContent = member ? "" : messages.pick_none;
      if (member) open(member);
    };
    const roll = () => {
      let member = null;
      const sizes = family.groups.map((group) => group.length);
      while (!member)
        member = memberOf(
          family,
          sizes.map((size) => Math.floor(Math.random() * size)),
        );
      open(member);
    };
    const text = messages[family.blocked ? "pick_roll" : "pick_any"];
    const buttons = [
      html("button", { type: "button", className: "plain", value: "any", onclick: roll }, text),
    ];
    const ofToday = () => memberOfDay({ ...data, families: [family] }, new Date());
    const today = ofToday();
    if (today) {
      const onclick = () => open(ofToday() ?? today);
      buttons.unshift(
        html(
          "button",
          { type: "button", className: "plain", value: "today", onclick },
          messages.pick_today,
        ),
      );
    }
    this.element = html(
      "fieldset",
      { className: "family" },
      html("legend", {}, html("bdi", {}, family.title)),
      ...this.lists,
      ...buttons,
      this.note,
    );
    this.element.dataset.family = family.id;
    this.show(today ?? memberOf(family, Array(family.groups.length).fill(0)));
  }

  /** Shows the choices of a member, if it is one of this family.
   * @type {(entry: Fabkit.Entry | null) => void} */
  show(entry) {
    if (entry?.family !== this.family) return;
    this.note.textContent = "";
    this.lists.forEach((list, number) => (list.value = String(entry.choice?.[number])));
  }
}
