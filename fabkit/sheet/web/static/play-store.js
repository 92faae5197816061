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

    /** Reads what was kept; whatever is not as it should be is left out. */
    read() {
      let kept = null;
      try {
        kept = JSON.parse(window.localStorage.getItem(this.place));
      } catch (error) {
        this.lasting = error instanceof SyntaxError;
      }
      if (kept?.schema !== SCHEMA) return;
      if (typeof kept.open === "string") this.open = kept.open;
      for (const [id, hints] of lists(kept.solved)) {
        if (typeof id === "string" && isCount(hints)) this.solved.set(id, hints);
      }
      for (const [id, hints, pieces] of lists(kept.boards)) {
        if (typeof id === "string" && isCount(hints)) this.boards.set(id, [hints, lists(pieces)]);
      }
    }

    write() {
      const boards = [...this.boards].map(([id, board]) => [id, ...board]);
      const kept = { schema: SCHEMA, open: this.open, solved: [...this.solved], boards };
      try {
        window.localStorage.setItem(this.place, JSON.stringify(kept));
        this.lasting = true;
      } catch {
        this.lasting = false;
      }
    }

    /** Keeps where the pieces of a challenge lie, and whether it is solved. */
    keep(game, solved) {
      const id = game.entry.id;
      const pieces = [...game.lying]
        .filter(([piece, { way, at }]) => !game.fixed.has(piece) && (at || way))
        .map(([piece, { way, at }]) => [game.data.pieces[piece].id, way, ...(at ?? [])]);
      this.open = id;
      if (pieces.length || game.hints) this.boards.set(id, [game.hints, pieces]);
      else this.boards.delete(id);
      if (solved && !(this.solved.get(id) <= game.hints)) this.solved.set(id, game.hints);
      this.write();
    }

    /** Lays the pieces of a challenge where they were. */
    restore(game) {
      const [hints, pieces] = this.boards.get(game.entry.id) ?? [0, []];
      game.hints = hints;
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

  const lists = (value) => (Array.isArray(value) ? value.filter(Array.isArray) : []);
  const isCount = (value) => Number.isInteger(value) && value >= 0;

  Object.assign(play, { Store });
})();
