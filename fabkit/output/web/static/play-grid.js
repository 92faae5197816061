// Cells, steps and outlines of a lattice, exact: integers in the lattice's frame.

export const UNIT = 100; // length of a grid unit in drawings

/** @type {(flat: Fabkit.Flat) => Fabkit.Point[]} */
export const pairs = (flat) =>
  Array.from(
    { length: flat.length / 2 },
    (_, i) => /** @type {Fabkit.Point} */ (flat.slice(2 * i, 2 * i + 2)),
  );

/** A number that identifies a cell or a point of the frame.
 * @type {(x: number, y: number) => number} */
export const key = (x, y) => (x + 2 ** 24) * 2 ** 25 + (y + 2 ** 24);

/** Cells in any order as a text to compare.
 * @param {Fabkit.Point[]} cells */
export const cellsKey = (cells) =>
  cells
    .map(([x, y]) => key(x, y))
    .sort((a, b) => a - b)
    .join();

/** A kind of cell: its corners, whether a line is drawn from each to the next, and its parts on a finer
 * lattice.
 * @typedef {{ corners: Fabkit.Point[], lines: boolean[], parts: Fabkit.Point[] }} Kind */

/** The lattice of a challenge: the set's, or one with half its unit. */
export class Grid {
  /** @param {Fabkit.Lattice} lattice
   * @param {number} halves */
  constructor(lattice, halves) {
    this.halves = halves;
    this.shapes = /** @type {Fabkit.FullMap<Fabkit.Orientation, Fabkit.Shape>} */ (new Map());
    this.ux = lattice.basis[0][0];
    this.vx = lattice.basis[1][0];
    this.vy = lattice.basis[1][1];
    this.kinds = new Map(
      lattice.kinds.map(({ at, corners, lines, parts }) => [
        key(...at),
        { corners: pairs(corners), lines, parts: pairs(parts[halves]) },
      ]),
    );
    this.scale = lattice.step.map((step) => (step * UNIT) / halves);
  }

  /** The kind of the cell with this centre: its corners, and its parts on a finer lattice.
   * @type {(x: number, y: number) => Kind | undefined} */
  kindOf(x, y) {
    const row = Math.floor(y / this.vy);
    const column = Math.floor((x - row * this.vx) / this.ux);
    return this.kinds.get(key(x - row * this.vx - column * this.ux, y - row * this.vy));
  }

  /** The cells, centroid, outline and box of an orientation, not moved.
   * @type {(orientation: Fabkit.Orientation) => Fabkit.Shape} */
  shape(orientation) {
    if (!this.shapes.has(orientation)) {
      const cells = pairs(orientation.cells).flatMap(([x, y]) =>
        /** @type {Kind} */ (this.kindOf(x, y)).parts.map(
          ([dx, dy]) => /** @type {Fabkit.Point} */ ([this.halves * x + dx, this.halves * y + dy]),
        ),
      );
      const middle = /** @type {Fabkit.Point} */ (
        [0, 1].map((axis) => mean(cells.map((cell) => cell[axis])))
      );
      const rings = orientation.rings.map((ring) => ring.map((value) => value * this.halves));
      const marks = new Map(
        Object.entries(orientation.marks ?? {}).flatMap(([mark, marked]) =>
          pairs(marked).map(([x, y]) => /** @type {const} */ ([key(x, y), mark])),
        ),
      );
      this.shapes.set(orientation, { cells, middle, rings, box: boxOf(rings), marks });
    }
    return this.shapes.get(orientation);
  }

  /** Whether a vector is in the lattice, so that pieces can be moved by it.
   * @type {(x: number, y: number) => boolean} */
  isStep(x, y) {
    const row = y / this.vy;
    return Number.isInteger(row) && Number.isInteger((x - row * this.vx) / this.ux);
  }

  /** The lattice vector nearest to any vector.
   * @type {(x: number, y: number) => Fabkit.Point} */
  nearestStep(x, y) {
    const low = Math.floor(y / this.vy);
    /** @type {{ step: Fabkit.Point, far: number } | null} */
    let best = null;
    for (const row of [low, low + 1]) {
      const column = Math.round((x - row * this.vx) / this.ux);
      /** @type {Fabkit.Point} */
      const step = [column * this.ux + row * this.vx, row * this.vy];
      const far = Math.hypot((step[0] - x) * this.scale[0], (step[1] - y) * this.scale[1]);
      if (!best || far < best.far - 1e-9) best = { step, far };
    }
    return /** @type {NonNullable<typeof best>} */ (best).step;
  }

  /** A step to a neighbour; in shifted rows, steps up and down zigzag.
   * @type {(step: Fabkit.Point, right: number, up: number) => Fabkit.Point} */
  neighbour([x, y], right, up) {
    const odd = Math.abs(y / this.vy) % 2;
    const shift = up && this.vx ? (odd ? this.vx - this.ux : this.vx) : 0;
    return [x + right * this.ux + shift, y + up * this.vy];
  }

  /** Converts a point of the frame to the drawing, whose y points down.
   * @type {(x: number, y: number) => Fabkit.Point} */
  toDrawing(x, y) {
    return [x * this.scale[0], -y * this.scale[1]];
  }
  /** @type {(x: number, y: number) => Fabkit.Point} */
  fromDrawing(x, y) {
    return [x / this.scale[0], -y / this.scale[1]];
  }

  /** @type {(rings: Fabkit.Flat[]) => string} */
  path(rings) {
    /** @param {Fabkit.Flat} ring */
    const points = (ring) => pairs(ring).map(([x, y]) => this.toDrawing(x, y).map(tidy).join(" "));
    return rings.map((ring) => `M${points(ring).join("L")}Z`).join("");
  }

  /** @param {Fabkit.Point} cell
   * @returns {Fabkit.Point[]} */
  cornersOf([x, y]) {
    return /** @type {Kind} */ (this.kindOf(x, y)).corners.map(([dx, dy]) => [x + dx, y + dy]);
  }

  /** The directed edges of a cell.
   * @type {(cell: Fabkit.Point) => [from: Fabkit.Point, to: Fabkit.Point][]} */
  edgesOf(cell) {
    return this.cornersOf(cell).map((from, i, all) => [from, all[(i + 1) % all.length]]);
  }

  /** The edges of a cell that are drawn as lines.
   * @type {(cell: Fabkit.Point) => [from: Fabkit.Point, to: Fabkit.Point][]} */
  linesOf([x, y]) {
    return this.edgesOf([x, y]).filter((_, i) => /** @type {Kind} */ (this.kindOf(x, y)).lines[i]);
  }

  /** A path around each of the cells.
   * @type {(cells: Fabkit.Point[]) => string} */
  cellsPath(cells) {
    return this.path(cells.map((cell) => this.cornersOf(cell).flat()));
  }

  /** The outlines of cells: the edges that belong to one cell only, joined to rings.
   * @type {(cells: Fabkit.Point[]) => Fabkit.Flat[]} */
  ringsOf(cells) {
    /** @type {Map<string, [from: Fabkit.Point, to: Fabkit.Point]>} */
    const edges = new Map();
    for (const [from, to] of cells.flatMap((cell) => this.edgesOf(cell))) {
      if (!edges.delete(`${to} ${from}`)) edges.set(`${from} ${to}`, [from, to]);
    }
    const rings = [];
    for (const [name, [start, second]] of edges) {
      edges.delete(name);
      const ring = [start];
      for (let corner = second; String(corner) !== String(start); ) {
        ring.push(corner);
        const [next, [, to]] = /** @type {[string, Fabkit.Point[]]} */ (
          [...edges].find(([, [from]]) => String(from) === String(corner))
        );
        edges.delete(next);
        corner = to;
      }
      rings.push(ring.flat());
    }
    return rings;
  }
}

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** @param {number} value */
const tidy = (value) => Math.round(value * 100) / 100;
/** Left, bottom, right and top of some rings.
 * @type {(rings: Fabkit.Flat[]) => Fabkit.Box} */
export function boxOf(rings) {
  const points = rings.flatMap(pairs);
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** What most entries have the same.
 * @type {object} */
const USUAL = { kind: "start", status: "solved", halves: 1 };

/** Completes what the entries of a set leave out because most have the same.
 * @type {(data: Fabkit.Data) => void} */
export function complete(data) {
  for (const entry of data.entries) {
    Object.assign(entry, { ...USUAL, ...entry });
    entry.pieces ??= data.pieces.map((_, piece) => piece);
    if (entry.blocks) entry.minus ??= entry.blocks.flat();
    if (typeof entry.rings === "number") entry.rings = data.entries[entry.rings].rings;
  }
  // The cells of most entries are those of the solution, and found when they are asked for.
  for (const entry of data.entries.filter(({ cells }) => !cells)) {
    const get = () => {
      const grid = new Grid(data.lattice, entry.halves);
      const cells = (entry.solution ?? []).flatMap(([piece, orientation, x, y]) =>
        grid
          .shape(data.pieces[piece].orientations[orientation])
          .cells.map(([dx, dy]) => [x + dx, y + dy]),
      );
      const value = cells.sort(([x, y], [x2, y2]) => x - x2 || y - y2).flat();
      Object.defineProperty(entry, "cells", { value });
      return value;
    };
    Object.defineProperty(entry, "cells", { get, enumerable: true, configurable: true });
  }
}
