"use strict";
// The page: opens challenges, and joins list, table and tools.
(() => {
  const play = window.fabkitPlay;
  const { html, svg } = play;
  const find = (name) => document.getElementById(`play-${name}`);

  /** The page as a whole. */
  class Page {
    /** @param {object} data of the page */
    constructor(data) {
      this.data = data;
      this.words = data.words;
      this.store = new play.Store(data.name);
      this.list = new play.List(data, this.store, {
        list: find("list"), level: find("level"), kind: find("kind"),
        unsolved: find("unsolved"), nothing: find("nothing"), tally: find("tally"),
      });
      const say = (text) => (find("say").textContent = text);
      const elements = { board: find("board"), tray: find("tray") };
      this.table = new play.Table(data, this.store, elements, say);
      this.table.changed = (verdict) => this.changed(verdict);
      this.actions = {
        left: () => this.table.turn("left"),
        right: () => this.table.turn("right"),
        flip: () => this.table.flip(),
        tray: () => this.table.toTray(),
        hint: () => this.table.hint(),
        undo: () => this.table.undo(),
        redo: () => this.table.redo(),
        reset: () => this.table.reset(),
        print: () => window.print(),
        next: () => this.go(this.list.beside(this.entry, 1)),
        previous: () => this.go(this.list.beside(this.entry, -1)),
        pieces: () => this.announce("fabkit:pieces", null),
        solution: () => this.announce("fabkit:solution"),
      };
      for (const button of document.querySelectorAll("[data-do]")) {
        button.addEventListener("click", () => {
          if (button.getAttribute("aria-disabled") !== "true") this.actions[button.dataset.do]();
        });
      }
      for (const button of document.querySelectorAll("[data-do=next], [data-do=previous]")) {
        button.hidden = data.entries.length < 2;
      }
      find("list").addEventListener("click", (event) => this.choose(event));
      play.listen(find("table"), this.table);
      window.addEventListener("storage", () => this.refresh());
      window.addEventListener("hashchange", () => this.open(this.named() ?? this.entry));
      const kept = data.entries.find((entry) => entry.id === this.store.open);
      this.open(this.named() ?? kept ?? data.entries[0]);
    }

    /** The challenge that the address names; undefined when there is none of that name. */
    named() {
      let name = "";
      try {
        name = decodeURIComponent(window.location.hash.slice(1));
      } catch {
        // A broken address names nothing.
      }
      return this.data.entries.find((entry) => entry.id === name);
    }

    /** Opens the challenge whose card is clicked, and brings it into sight. */
    choose(event) {
      const entry = this.list.entryAt(event.target);
      if (!entry || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.go(entry);
      this.meet();
    }

    /** Moves the focus to the challenge's title, and the page to where it is seen. */
    meet() {
      const title = find("title");
      title.focus({ preventScroll: true });
      const { top } = title.getBoundingClientRect();
      if (top < 0 || top > window.innerHeight / 2) document.getElementById("play").scrollIntoView();
    }

    /** Shows what the same page in another window has kept. */
    refresh() {
      this.store.read(this.table.game);
      this.list.update(this.entry);
    }

    /** Opens a challenge and names it in the address. */
    go(entry) {
      window.history.pushState(null, "", `#${encodeURIComponent(entry.id)}`);
      this.open(entry);
    }

    open(entry) {
      if (entry === this.entry) return;
      const isHere = find("table").contains(document.activeElement);
      this.entry = entry;
      find("title").replaceChildren(html("bdi", {}, entry.title));
      find("facts").replaceChildren(...this.facts(entry));
      find("say").textContent = "";
      this.print(entry);
      this.table.open(entry);
      this.list.reveal(entry);
      this.announce("fabkit:entry");
      if (isHere) this.meet(); // what had the focus is gone
    }

    /** Tells the view in 3D what is wanted: something of a challenge, or of none. */
    announce(name, id = this.entry.id) {
      document.dispatchEvent(new CustomEvent(name, { detail: { id } }));
    }

    /** What is to be known of a challenge before one begins. */
    facts(entry) {
      const { words } = this;
      const over = this.data.ball ? words.fact_over : entry.flips && words.fact_flips;
      const texts = [
        words[`level_${entry.level}`],
        play.counted(words, "pieces", entry.pieces.length),
        entry.given.length && play.counted(words, "given", entry.given.length),
        over,
        entry.status === "impossible" && words.fact_impossible,
      ];
      const items = texts.filter(Boolean).map((text) => html("span", {}, text));
      if (!entry.stars) return items;
      const stars = play.stars(entry, words);
      stars.setAttribute("aria-hidden", "true"); // the level's name follows them
      return [stars, ...items];
    }

    /** Brings tools and list up to date. */
    changed(verdict) {
      const { game, selected } = this.table;
      const able = {
        left: selected !== null,
        right: selected !== null,
        flip: selected !== null && game.canFlip(selected),
        tray: selected !== null && Boolean(game.lying.get(selected).at),
        hint: Boolean(this.entry.solution) && !verdict.solved,
        solution: Boolean(this.entry.solution),
        undo: game.past.length > 0,
        redo: game.future.length > 0,
      };
      for (const [name, can] of Object.entries(able)) {
        for (const button of document.querySelectorAll(`[data-do=${name}]`)) {
          button.setAttribute("aria-disabled", String(!can));
        }
      }
      find("done").hidden = !verdict.solved;
      find("done-text").textContent = this.table.cheer();
      find("unkept").hidden = this.store.lasting;
      this.list.update(this.entry);
    }

    /** The sheet that is printed: the silhouette at 1:1, where it fits. */
    print(entry) {
      const { unitMm, lattice, words, language } = this.data;
      const grid = new play.Grid(lattice, entry.halves);
      const box = play.viewBox(grid, play.boxOf(entry.rings));
      const [width, height] = box.slice(2).map((side) => (side / play.UNIT) * unitMm);
      const drawing = find("print-region");
      drawing.setAttribute("viewBox", box.join(" "));
      drawing.replaceChildren(svg("path", { d: grid.path(entry.rings), class: "silhouette" }));
      drawing.style.width = `${width}mm`;
      drawing.style.height = `${height}mm`;
      const fits = width <= PRINT_MM[0] && height <= PRINT_MM[1];
      drawing.classList.toggle("shrunk", !fits);
      const unit = new Intl.NumberFormat(language).format(unitMm);
      find("print-scale").textContent = play.fill(words[fits ? "print_true" : "print_small"], { unit });
      find("print-bar").hidden = !fits;
      find("print-title").replaceChildren(html("bdi", {}, entry.title));
      const names = entry.pieces.map((piece) => this.data.pieces[piece].id).join(", ");
      find("print-pieces").textContent = names;
    }
  }

  /** What fits on a sheet of A4 as well as of Letter, with the words around it. */
  const PRINT_MM = [186, 210];

  document.addEventListener("DOMContentLoaded", () => {
    play.page = new Page(window.FABKIT);
  });
})();
