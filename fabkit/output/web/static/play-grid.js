"use strict";
// Cells, steps and outlines of a lattice, exact: integers in the lattice's frame.
(() => {
  const play = (window.fabkitPlay ??= {});

  const UNIT = 100; // length of a grid unit in drawings

  const pairs = (flat) => Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2));

  /** A number that identifies a cell or a point of the frame. */
  const key = (x, y) => (x + 2 ** 24) * 2 ** 25 + (y + 2 ** 24);

  /** The lattice of a challenge: the set's, or one with half its unit. */
  class Grid {
    constructor(lattice, halves) {
      Object.assign(this, { halves, shapes: new Map() });
      [[this.ux], [this.vx, this.vy]] = lattice.basis;
      const kindOf = ({ corners, parts }) => ({ corners: pairs(corners), parts: pairs(parts[halves]) });
      this.kinds = new Map(lattice.kinds.map((kind) => [key(...kind.at), kindOf(kind)]));
      this.scale = lattice.step.map((step) => (step * UNIT) / halves);
    }

    /** The kind of the cell with this centre: its corners, and its parts on a finer lattice. */
    kindOf(x, y) {
      const row = Math.floor(y / this.vy);
      const column = Math.floor((x - row * this.vx) / this.ux);
      return this.kinds.get(key(x - row * this.vx - column * this.ux, y - row * this.vy));
    }

    /** The cells, centroid, outline and box of an orientation, not moved. */
    shape(orientation) {
      if (!this.shapes.has(orientation)) {
        const cells = pairs(orientation.cells).flatMap(([x, y]) =>
          this.kindOf(x, y).parts.map(([dx, dy]) => [this.halves * x + dx, this.halves * y + dy]),
        );
        const middle = [0, 1].map((axis) => mean(cells.map((cell) => cell[axis])));
        const rings = orientation.rings.map((ring) => ring.map((value) => value * this.halves));
        this.shapes.set(orientation, { cells, middle, rings, box: boxOf(rings) });
      }
      return this.shapes.get(orientation);
    }

    /** Whether a vector is in the lattice, so that pieces can be moved by it. */
    isStep(x, y) {
      const row = y / this.vy;
      return Number.isInteger(row) && Number.isInteger((x - row * this.vx) / this.ux);
    }

    /** The lattice vector nearest to any vector. */
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

    /** A step to a neighbour; in shifted rows, steps up and down zigzag. */
    neighbour([x, y], right, up) {
      const odd = Math.abs(y / this.vy) % 2;
      const shift = up && this.vx ? (odd ? this.vx - this.ux : this.vx) : 0;
      return [x + right * this.ux + shift, y + up * this.vy];
    }

    /** Converts a point of the frame to the drawing, whose y points down. */
    toDrawing(x, y) { return [x * this.scale[0], -y * this.scale[1]]; }
    fromDrawing(x, y) { return [x / this.scale[0], -y / this.scale[1]]; }

    path(rings) {
      const points = (ring) => pairs(ring).map(([x, y]) => this.toDrawing(x, y).map(tidy).join(" "));
      return rings.map((ring) => `M${points(ring).join("L")}Z`).join("");
    }

    cornersOf([x, y]) { return this.kindOf(x, y).corners.map(([dx, dy]) => [x + dx, y + dy]); }

    /** The directed edges of a cell. */
    edgesOf(cell) {
      return this.cornersOf(cell).map((from, i, all) => [from, all[(i + 1) % all.length]]);
    }

    /** A path around each of the cells. */
    cellsPath(cells) { return this.path(cells.map((cell) => this.cornersOf(cell).flat())); }
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
