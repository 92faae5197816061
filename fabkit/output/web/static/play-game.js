"use strict";
// A challenge being played: where the pieces lie, and what follows from that. Nothing is shown here.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { Grid, boxOf, key, pairs } = play;

  /** So many steps can be undone. */
  const MOST_STEPS = 500;
  /** How far from the region pieces may lie, in grid units. */
  const MARGIN = 0.75;

  /**
   * Where a piece is. `at` is the step of the lattice by which it is moved; null in the tray.
   * @typedef {{way: number, at: [number, number] | null}} Lying
   */

  /**
   * What a step begins with. `spared` counts the hints that do not count any more.
   * @typedef {{lying: Map<number, Lying>, spared: number}} State
   */

  /** One challenge and the state of its pieces. */
  class Game {
    /**
     * @param {object} data of the page
     * @param {object} entry the challenge
     */
    constructor(data, entry) {
      this.data = data;
      this.entry = entry;
      this.grid = new Grid(data.lattice, entry.halves);
      this.region = new Set(pairs(entry.cells).map(([x, y]) => key(x, y)));
      this.box = boxOf(entry.rings);
      this.field = this.fieldOf();
      this.fixed = new Set(entry.given.map(([piece]) => piece));
      /** How many hints were asked for, and how many of them before the last new start. */
      [this.asked, this.spared] = [0, 0];
      /** @type {State[]} */
      this.past = [];
      /** @type {State[]} */
      this.future = [];
      /** What could be done again before the last step began; it can be again if that is forgotten. */
      this.undone = [];
      /** @type {Map<number, Lying>} */
      this.lying = this.start();
      this.spun = null;
    }

    /** Whether there is any piece to lay. */
    get hasFree() {
      return this.fixed.size < this.lying.size;
    }

    /** How many hints were asked for since the start. */
    get hints() {
      return this.asked - this.spared;
    }

    /** All pieces in the tray but those that are given. */
    start() {
      const lying = new Map(this.entry.pieces.map((piece) => [piece, { way: 0, at: null }]));
      for (const [piece, way, x, y] of this.entry.given) lying.set(piece, { way, at: [x, y] });
      return lying;
    }

    /** The ways of a piece, as the data has them. */
    ways(piece) {
      return this.data.pieces[piece].ways;
    }

    /** How many ways there are in which a piece may lie here. */
    count(piece) {
      return this.entry.flips ? this.ways(piece).length : this.data.pieces[piece].plain;
    }

    /** Cells, middle and outline of a piece as it lies, not moved. */
    shape(piece, way = this.lying.get(piece).way) {
      return this.grid.shape(this.ways(piece)[way]);
    }

    /**
     * The cells that a piece covers; none in the tray.
     * @param {number} piece
     * @param {Lying} lying
     */
    cells(piece, { way, at } = this.lying.get(piece)) {
      return at ? this.shape(piece, way).cells.map(([x, y]) => [x + at[0], y + at[1]]) : [];
    }

    /** Which way a piece lies after it is turned over; the same when it cannot be. */
    over(piece) {
      const way = this.lying.get(piece).way;
      return this.ways(piece)[way][this.entry.flips ? "flip" : "over"] ?? way;
    }

    canFlip(piece) {
      return !this.fixed.has(piece) && this.over(piece) !== this.lying.get(piece).way;
    }

    /**
     * Moves a piece, which can be undone; it is no step if the piece lies so already.
     * @param {number} piece
     * @param {Lying} lying
     */
    put(piece, lying) {
      if (this.fixed.has(piece)) return;
      this.remember();
      this.lying.set(piece, lying);
      this.settle();
    }

    /** Moves a piece on as part of the step before. */
    nudge(piece, lying) {
      this.lying.set(piece, lying);
    }

    /** Begins a step that can be undone, and ends the one before. */
    remember() {
      this.settle();
      this.past.push(this.state);
      if (this.past.length > MOST_STEPS) this.past.shift();
      this.lying = new Map(this.lying);
      [this.undone, this.future] = [this.future, []];
    }

    /** @returns {State} */
    get state() {
      return { lying: this.lying, spared: this.spared };
    }

    /**
     * A piece turned where it is, or in the tray.
     * @param {number} piece
     * @param {"left" | "right"} hand
     * @returns {Lying}
     */
    turned(piece, hand) {
      return this.changed(piece, this.ways(piece)[this.lying.get(piece).way][hand]);
    }

    /** A piece turned over where it is, or in the tray. */
    flipped(piece) {
      return this.changed(piece, this.over(piece));
    }

    /** A piece some other way, its middle as near as can be to where it was before it was turned. */
    changed(piece, way) {
      const before = this.lying.get(piece);
      if (!before.at) return { way, at: null };
      const old = this.shape(piece).middle;
      const middle =
        this.spun?.lying === before ? this.spun.middle : old.map((value, i) => value + before.at[i]);
      const now = this.shape(piece, way).middle;
      const at = this.kept(piece, way, this.grid.nearestStep(middle[0] - now[0], middle[1] - now[1]));
      this.spun = { lying: { way, at }, middle };
      return this.spun.lying;
    }

    /** A piece taken to the tray, the way it lies. */
    taken(piece) {
      return { way: this.lying.get(piece).way, at: null };
    }

    /** Ends a step. One that changed nothing is forgotten, as if it had never begun. */
    settle() {
      const before = this.past.at(-1)?.lying;
      const same = ([piece, lying]) => isSame(before.get(piece), lying);
      if (!before || ![...this.lying].every(same)) return;
      this.past.pop();
      this.future = this.undone;
    }

    undo() {
      this.settle();
      return this.swap(this.past, this.future);
    }

    redo() {
      this.settle();
      return this.swap(this.future, this.past);
    }

    swap(from, to) {
      if (!from.length) return false;
      to.push(this.state);
      Object.assign(this, from.pop());
      return true;
    }

    /** Starts again; what was asked for until now counts again only when this is undone. */
    reset() {
      this.remember();
      this.lying = this.start();
      this.spared = this.asked;
      this.settle();
    }

    /**
     * The field in which pieces are kept: the region and some room around it, so large that every
     * piece fits any way, with a step to spare: then it comes to lie in it by whole steps.
     */
    fieldOf() {
      const margin = this.grid.undrawn(MARGIN * play.UNIT, -MARGIN * play.UNIT);
      const boxes = this.entry.pieces.flatMap((piece) =>
        this.ways(piece).slice(0, this.count(piece)).map((_, way) => this.shape(piece, way).box),
      );
      const room = [this.grid.ux, this.grid.vy].map((step, axis) => {
        const longest = Math.max(...boxes.map((box) => box[axis + 2] - box[axis]));
        const side = this.box[axis + 2] - this.box[axis];
        return Math.max(margin[axis], (longest + step - side) / 2);
      });
      const [left, bottom, right, top] = this.box;
      return [left - room[0], bottom - room[1], right + room[0], top + room[1]];
    }

    /** Whether a piece would lie in the field. */
    isKept(piece, way, at) {
      return this.excess(piece, way, at).every((value) => value === 0);
    }

    /** How far a piece would stick out of the field to the right and upwards; negative: left, down. */
    excess(piece, way, at) {
      const box = this.shape(piece, way).box;
      const field = this.field;
      return [0, 1].map((axis) => {
        const [low, high] = [box[axis] + at[axis], box[axis + 2] + at[axis]];
        if (high > field[axis + 2] + 1e-6) return high - field[axis + 2];
        return low < field[axis] - 1e-6 ? low - field[axis] : 0;
      });
    }

    /** The step nearest to the one wished with which a piece lies in the field. */
    kept(piece, way, at) {
      let [x, y] = at;
      for (let [right, up] = this.excess(piece, way, at), i = 0; (right || up) && i < 200; i++) {
        [x, y] = this.grid.neighbour([x, y], -Math.sign(right), -Math.sign(up));
        [right, up] = this.excess(piece, way, [x, y]);
      }
      return [x, y];
    }

    /**
     * What is right and wrong with where the pieces lie.
     * @returns {{doubled: [number, number][], overlaps: Map<number, Set<number>>,
     *   outside: Set<number>, solved: boolean}}
     */
    judge() {
      const covered = new Map();
      const [doubled, overlaps, outside] = [[], new Map(), new Set()];
      for (const piece of this.lying.keys()) {
        for (const [x, y] of this.cells(piece)) {
          const place = key(x, y);
          if (!this.region.has(place)) outside.add(piece);
          const others = covered.get(place) ?? [];
          if (others.length === 1) doubled.push([x, y]);
          for (const other of others) {
            noteBoth(overlaps, piece, other);
          }
          covered.set(place, [...others, piece]);
        }
      }
      const allPlaced = [...this.lying.values()].every((lying) => lying.at);
      const exact = !doubled.length && !outside.size && covered.size === this.region.size;
      return { doubled, overlaps, outside, solved: allPlaced && exact };
    }
  }

  const isSame = (one, other) => one.way === other.way && String(one.at) === String(other.at);

  function noteBoth(overlaps, one, other) {
    for (const [a, b] of [[one, other], [other, one]]) {
      if (!overlaps.has(a)) overlaps.set(a, new Set());
      overlaps.get(a).add(b);
    }
  }

  Object.assign(play, { Game });
})();
