"use strict";
// What the browser keeps: which challenges are solved, and where the pieces of each lie.
// Storage may be full, broken or forbidden; then progress lasts as long as the page is open.
(() => {
  const play = (window.fabkitPlay ??= {});
  const SCHEMA = 1;

  /** The progress with one set. */
  class Store {
    /** @param {string} name the set's */
    constructor(name) {
      this.place = `fabkit/${name}`;
      /** Whether what is kept outlives the page. */
      this.lasting = true;
      this.open = "";
      this.solved = new Map();
      this.boards = new Map();
      this.read();
    }

    /** What is kept now; null when it is nothing that can be read. */
    kept() {
      try {
        return JSON.parse(window.localStorage.getItem(this.place));
      } catch (error) {
        this.lasting = error instanceof SyntaxError;
        return null;
      }
    }

    /**
     * Reads what was kept, perhaps by the same page in another window; whatever is not as it should be
     * is left out.
     * @param {object | null} game whose pieces lie as this page has them
     * @returns {boolean} whether a newer page has kept it, which must not be written over
     */
    read(game = null) {
      const kept = this.kept();
      if (kept?.schema !== SCHEMA) return kept?.schema > SCHEMA;
      if (typeof kept.open === "string" && !game) this.open = kept.open;
      for (const [name, hints] of lists(kept.solved)) {
        if (typeof name === "string" && isCount(hints)) this.noteSolved(name, hints);
      }
      const mine = game && nameOf(game.entry);
      const own = this.boards.get(mine);
      this.boards = new Map();
      for (const [name, hints, pieces] of lists(kept.boards)) {
        if (typeof name === "string" && isCount(hints)) this.boards.set(name, [hints, lists(pieces)]);
      }
      if (own) this.boards.set(mine, own);
      else this.boards.delete(mine);
      return false;
    }

    /** Adds what was done with a challenge to what is kept of all. */
    write(game) {
      this.lasting = !this.read(game);
      if (!this.lasting) return;
      const boards = [...this.boards].map(([name, board]) => [name, ...board]);
      const kept = { schema: SCHEMA, open: this.open, solved: [...this.solved], boards };
      try {
        window.localStorage.setItem(this.place, JSON.stringify(kept));
      } catch {
        this.lasting = false;
      }
    }

    isSolved(entry) {
      return this.solved.has(nameOf(entry));
    }

    /** Notes that a challenge is solved, and with how many hints at the least. */
    noteSolved(name, hints) {
      if (!(this.solved.get(name) <= hints)) this.solved.set(name, hints);
    }

    /** Keeps where the pieces of a challenge lie, and whether it is solved. */
    keep(game, solved) {
      const name = nameOf(game.entry);
      const pieces = [...game.lying]
        .filter(([piece, { way, at }]) => !game.fixed.has(piece) && (at || way))
        .map(([piece, { way, at }]) => [game.data.pieces[piece].id, way, ...(at ?? [])]);
      this.open = game.entry.id;
      if (pieces.length || game.hints) this.boards.set(name, [game.hints, pieces]);
      else this.boards.delete(name);
      if (solved) this.noteSolved(name, game.hints);
      this.write(game);
    }

    /** Lays the pieces of a challenge where they were. */
    restore(game) {
      const [hints, pieces] = this.boards.get(nameOf(game.entry)) ?? [0, []];
      game.asked = hints;
      for (const [id, way, x, y] of pieces) {
        const piece = game.data.pieces.findIndex((one) => one.id === id);
        const known = game.lying.has(piece) && !game.fixed.has(piece) && isCount(way);
        if (!known || way >= game.count(piece)) continue;
        const lies = Number.isInteger(x) && Number.isInteger(y) && game.grid.isStep(x, y);
        const at = lies && game.isKept(piece, way, [x, y]) ? [x, y] : null;
        game.nudge(piece, { way, at });
      }
    }
  }

  /** A challenge in what is kept: another one of the same name, of a changed set, is not it. */
  const nameOf = (entry) => `${entry.id} ${entry.mark}`;
  const lists = (value) => (Array.isArray(value) ? value.filter(Array.isArray) : []);
  const isCount = (value) => Number.isInteger(value) && value >= 0;

  Object.assign(play, { Store });
})();
