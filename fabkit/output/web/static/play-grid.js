"use strict";
// Cells, steps and outlines of a lattice. All is exact: whole numbers in the lattice's own frame.
(() => {
  const play = (window.fabkitPlay ??= {});

  /** How long a grid unit is in a drawing. */
  const UNIT = 100;

  /**
   * The pairs of a flat list.
   * @param {number[]} flat x, y, x, y
   * @returns {[number, number][]}
   */
  function pairs(flat) {
    const found = [];
    for (let i = 0; i < flat.length; i += 2) found.push([flat[i], flat[i + 1]]);
    return found;
  }

  /**
   * One number for a cell or a point of the frame.
   * @param {number} x
   * @param {number} y
   */
  const key = (x, y) => (x + 2 ** 24) * 2 ** 25 + (y + 2 ** 24);

  /** The lattice of a challenge: the set's, or one with units half as long. */
  class Grid {
    /**
     * @param {object} lattice as in the data
     * @param {number} halves how many of its units are as long as a grid unit
     */
    constructor(lattice, halves) {
      this.halves = halves;
      this.turns = lattice.turns;
      [[this.ux], [this.vx, this.vy]] = lattice.basis;
      this.kinds = new Map(
        lattice.kinds.map((kind) => [
          key(...kind.at),
          { corners: pairs(kind.corners), parts: pairs(kind.parts[halves]) },
        ]),
      );
      this.scale = lattice.step.map((step) => (step * UNIT) / halves);
      this.known = new Map();
    }

    /** What kind of cell a point is the middle of: its corners, and its parts on a finer lattice. */
    kindOf(x, y) {
      const row = Math.floor(y / this.vy);
      const column = Math.floor((x - row * this.vx) / this.ux);
      return this.kinds.get(key(x - row * this.vx - column * this.ux, y - row * this.vy));
    }

    /**
     * The cells of a piece that lies some way, not moved, and the middle of them.
     * @param {object} way of the data
     */
    shape(way) {
      if (!this.known.has(way)) {
        const cells = pairs(way.cells).flatMap(([x, y]) =>
          this.kindOf(x, y).parts.map(([dx, dy]) => [this.halves * x + dx, this.halves * y + dy]),
        );
        const middle = [0, 1].map((axis) => mean(cells.map((cell) => cell[axis])));
        const rings = way.rings.map((ring) => ring.map((value) => value * this.halves));
        this.known.set(way, { cells, middle, rings, box: boxOf(rings) });
      }
      return this.known.get(way);
    }

    /** Whether pieces can be moved by a vector. */
    isStep(x, y) {
      const row = y / this.vy;
      return Number.isInteger(row) && Number.isInteger((x - row * this.vx) / this.ux);
    }

    /**
     * The step of the lattice that is nearest to a vector, which need not be whole.
     * @returns {[number, number]}
     */
    nearestStep(x, y) {
      const low = Math.floor(y / this.vy);
      let best = null;
      for (const row of [low, low + 1]) {
        const column = Math.round((x - row * this.vx) / this.ux);
        const step = [column * this.ux + row * this.vx, row * this.vy];
        const far = Math.hypot((step[0] - x) * this.scale[0], (step[1] - y) * this.scale[1]);
        if (!best || far < best.far - 1e-9) best = { step, far };
      }
      return best.step;
    }

    /**
     * Where a step to a neighbour leads; rows that are shifted are gone up in a zigzag.
     * @param {[number, number]} at
     * @param {number} right -1, 0 or 1
     * @param {number} up -1, 0 or 1
     * @returns {[number, number]}
     */
    neighbour([x, y], right, up) {
      const odd = Math.abs(y / this.vy) % 2;
      const shift = up && this.vx ? (odd ? this.vx - this.ux : this.vx) : 0;
      return [x + right * this.ux + shift, y + up * this.vy];
    }

    /** A point of the frame in a drawing, whose y goes down. */
    drawn(x, y) {
      return [x * this.scale[0], -y * this.scale[1]];
    }

    /** A point of a drawing in the frame. */
    undrawn(x, y) {
      return [x / this.scale[0], -y / this.scale[1]];
    }

    /**
     * Rings as the path of a drawing.
     * @param {number[][]} rings
     */
    path(rings) {
      return rings
        .map((ring) => {
          const points = pairs(ring).map(([x, y]) => this.drawn(x, y).map(tidy).join(" "));
          return `M${points.join("L")}Z`;
        })
        .join("");
    }

    /** The path around some cells, each by itself. */
    pathOfCells(cells) {
      return this.path(
        cells.map(([x, y]) => this.kindOf(x, y).corners.flatMap(([dx, dy]) => [x + dx, y + dy])),
      );
    }
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const tidy = (value) => Math.round(value * 100) / 100;

  /** Left, bottom, right and top of some rings. */
  function boxOf(rings) {
    const points = rings.flatMap(pairs);
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }

  Object.assign(play, { UNIT, Grid, boxOf, key, pairs });
})();
