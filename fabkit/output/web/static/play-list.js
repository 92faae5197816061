"use strict";
// The list of challenges: small pictures, with what is solved, to be narrowed by level and kind.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { html, fill } = play;

  /** All challenges of the page. */
  class List {
    /**
     * @param {object} data of the page
     * @param {object} store what the browser keeps
     * @param {Record<string, HTMLElement>} elements
     */
    constructor(data, store, elements) {
      Object.assign(this, { data, store, elements });
      this.cards = data.entries.map((entry) => this.card(entry));
      elements.list.replaceChildren(...this.cards.map((card) => card.item));
      const levels = data.levels.filter((one) => data.entries.some((entry) => entry.level === one));
      const kinds = [...new Set(data.entries.map((entry) => entry.kind))];
      this.offer(elements.level, levels, "level");
      this.offer(elements.kind, kinds, "kind");
      for (const one of [elements.level, elements.kind, elements.unsolved]) {
        one.addEventListener("change", () => this.narrow());
      }
    }

    /** Fills a choice; one between less than two things is not shown. */
    offer(choice, values, prefix) {
      const words = this.data.words;
      const option = (value) => html("option", { value }, words[`${prefix}_${value}`] ?? value);
      choice.replaceChildren(html("option", { value: "" }, words.filter_all), ...values.map(option));
      choice.parentElement.hidden = values.length < 2;
    }

    card(entry) {
      const words = this.data.words;
      const mark = html("span", { className: "mark" });
      const link = html(
        "a",
        { href: `#${encodeURIComponent(entry.id)}`, className: "card" },
        play.silhouette(this.data, entry),
        html("span", { className: "card-title" }, html("bdi", {}, entry.title)),
        play.stars(entry, words),
        mark,
      );
      return { entry, link, mark, item: html("li", {}, link) };
    }

    /** The challenge whose card an element belongs to; undefined for others. */
    entryAt(element) {
      return this.cards.find((card) => card.link.contains(element))?.entry;
    }

    /** The challenges that are listed now. */
    get listed() {
      return this.cards.filter((card) => !card.item.hidden).map((card) => card.entry);
    }

    /** Hides what is not wanted. */
    narrow() {
      const { level, kind, unsolved, nothing } = this.elements;
      for (const { entry, item } of this.cards) {
        item.hidden =
          (level.value !== "" && entry.level !== level.value) ||
          (kind.value !== "" && entry.kind !== kind.value) ||
          (unsolved.checked && this.store.isSolved(entry));
      }
      nothing.hidden = this.listed.length > 0;
    }

    /** Shows which challenge is open, and which are solved. */
    update(open) {
      const words = this.data.words;
      for (const { entry, link, mark } of this.cards) {
        if (entry === open) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        const solved = this.store.isSolved(entry);
        link.classList.toggle("done", solved);
        mark.replaceChildren(...(solved ? [html("span", { className: "tick" }, words.mark)] : []));
      }
      const { entries } = this.data;
      const solved = entries.filter((entry) => this.store.isSolved(entry)).length;
      this.elements.tally.textContent = fill(words.tally, { solved, count: entries.length });
    }

    /** Scrolls the list, and only the list, to the open challenge. */
    reveal(open) {
      const card = this.cards.find((one) => one.entry === open);
      const { list } = this.elements;
      const frame = list.getBoundingClientRect();
      const box = card.item.getBoundingClientRect();
      if (box.top < frame.top || box.bottom > frame.bottom) list.scrollTop += box.top - frame.top - 8;
      if (box.left < frame.left || box.right > frame.right) list.scrollLeft += box.left - frame.left - 8;
    }

    /** The challenge some places before or after another one, among those listed. */
    beside(open, places) {
      const listed = this.listed.length ? this.listed : this.data.entries;
      const here = listed.indexOf(open);
      if (here < 0) return listed[0];
      return listed[(here + places + listed.length) % listed.length];
    }
  }

  /** A level as stars, of which a screen reader says the level's name. */
  play.stars = (entry, words) => {
    if (!entry.stars) return html("span", { className: "stars" });
    const level = words[`level_${entry.level}`];
    const drawn = html("span", {}, "★".repeat(entry.stars) + "☆".repeat(5 - entry.stars));
    drawn.setAttribute("aria-hidden", "true");
    const said = html("span", { className: "unseen" }, level);
    return html("span", { className: "stars", title: level }, drawn, said);
  };

  Object.assign(play, { List });
})();
