// @ts-check
// Rows, columns and symmetries of a lattice in exact integers, as in fabkit/model/lattice.py.
import { Grid, key, pairs } from "./play-grid.js";

/** @typedef {[x: number, y: number]} Cell */
/** A row, a column, and which of the cells there.
 * @typedef {[row: number, column: number, k: number]} Address */

export class Lattice {
  /** @param {Fabkit.DrawingLattice} document */
  constructor(document) {
    this.name = document.name;
    this.grid = new Grid(document, 1);
    /** @type {Fabkit.Symmetry[]} */
    this.symmetries = document.symmetries;
    this.turns = document.turns;
    /** The cells of one period in row 0, by column.
     * @type {Cell[][]} */
    this.columns = document.columns.map(pairs);
    this.perPlace = this.columns[0].length;
    /** Whether files draw pieces by outlines: where a unit of area has several cells. */
    this.writesOutlines = document.kinds.some(({ lines }) => lines.includes(false));
    const { ux, vx } = this.grid;
    this._shift = (vx * this.columns.length) / ux;
    this._kinds = new Map();
    this.columns.forEach((cells, column) =>
      cells.forEach((cell, k) => this._kinds.set(key(...this._residue(cell)), { cell, column, k })),
    );
  }

  /** @param {Cell} cell
   * @returns {Cell} */
  _residue([x, y]) {
    const { ux, vx, vy } = this.grid;
    const row = Math.floor(y / vy);
    return [(((x - row * vx) % ux) + ux) % ux, y - row * vy];
  }

  /** By how many whole columns a period begins later than in row 0.
   * @param {number} row */
  _columnsShifted(row) {
    return row & 1 ? Math.floor(this._shift) : 0;
  }

  /** The cells of a place, counter-clockwise from the top.
   * @param {number} row
   * @param {number} column
   * @returns {Cell[]} */
  cellsAt(row, column) {
    const { ux, vx, vy } = this.grid;
    const shifted = column - this._columnsShifted(row);
    const period = Math.floor(shifted / this.columns.length);
    const within = shifted - period * this.columns.length;
    return this.columns[within].map(([x, y]) => [x + ux * period + vx * (row & 1), y - vy * row]);
  }

  /** The cells that a file names by a row and a column, or by the index of one cell there besides.
   * @param {number[]} address
   * @returns {Cell[]} */
  cellsNamed([row, column, k]) {
    const cells = this.cellsAt(row, column);
    return k === undefined ? cells : cells.slice(k, k + 1);
  }

  /** The place at or left of a place that can be called 0, 0 instead.
   * @param {number} row
   * @param {number} column
   * @returns {[row: number, column: number]} */
  origin(row, column) {
    const { length } = this.columns;
    return [row, column - ((((column - this._columnsShifted(row)) % length) + length) % length)];
  }

  /** The place from which a file counts the rows and columns of cells.
   * @param {number[][]} addresses of all of them
   * @returns {[row: number, column: number]} */
  corner(addresses) {
    const [top, left] = [0, 1].map((axis) =>
      Math.min(...addresses.map((address) => address[axis])),
    );
    return addresses.length ? this.origin(top, left) : [0, 0];
  }

  /** The inverse of `cellsAt`.
   * @param {Cell} cell
   * @returns {Address} */
  address(cell) {
    const { ux, vx, vy } = this.grid;
    const {
      cell: [x, y],
      column,
      k,
    } = this._kinds.get(key(...this._residue(cell)));
    const row = (y - cell[1]) / vy;
    const period = Math.floor((cell[0] - x - vx * (row & 1)) / ux);
    return [row, period * this.columns.length + column + this._columnsShifted(row), k];
  }

  /** The image of cells under a symmetry, moved back by lattice steps near where they were.
   * @param {Cell[]} cells
   * @param {Fabkit.Symmetry} symmetry
   * @returns {Cell[]} */
  turned(cells, symmetry) {
    const images = cells.map((cell) => image(cell, symmetry));
    const [from, to] = [cells, images].map(middle);
    const [dx, dy] = this.grid.nearestStep(from[0] - to[0], from[1] - to[1]);
    return images.map(([x, y]) => [x + dx, y + dy]);
  }
}

/** @param {Cell} point
 * @param {Fabkit.Symmetry} symmetry
 * @returns {Cell} */
const image = ([x, y], { doubled: [a, b, c, d] }) => [(a * x + b * y) / 2, (c * x + d * y) / 2];

/** The movement of the lattice that takes cells to others, for any point of the frame; without cells, none.
 * @param {Lattice} lattice
 * @param {[from: Cell, to: Cell][]} moves
 * @returns {(point: Cell) => Cell} */
export function movement(lattice, moves) {
  for (const symmetry of moves.length ? lattice.symmetries : []) {
    const [dx, dy] = difference(moves[0][1], image(moves[0][0], symmetry));
    const moved = (/** @type {Cell} */ point) => difference(image(point, symmetry), [-dx, -dy]);
    if (moves.every(([from, to]) => String(moved(from)) === String(to))) return moved;
  }
  return (point) => point;
}

/** @param {Cell} a
 * @param {Cell} b
 * @returns {Cell} */
export const difference = ([ax, ay], [bx, by]) => [ax - bx, ay - by];

/** @param {Cell[]} cells */
const middle = (cells) =>
  [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length);

/** Cells moved by a step of the lattice so that they begin in row 0 and the first columns.
 * @param {Lattice} lattice
 * @param {Cell[]} cells
 * @returns {Cell[]} */
export function normalized(lattice, cells) {
  if (!cells.length) return [];
  const { ux, vx, vy } = lattice.grid;
  const top = Math.min(...cells.map((cell) => lattice.address(cell)[0]));
  const raised = cells.map(([x, y]) => /** @type {Cell} */ ([x + top * vx, y + top * vy]));
  const left = Math.min(
    ...raised.map((cell) => Math.floor(lattice.address(cell)[1] / lattice.columns.length)),
  );
  return raised.map(([x, y]) => [x - left * ux, y]);
}

/** How a file draws cells with letters: in rows of text where it can, else as lists of cells by letter.
 * @param {Lattice} lattice
 * @param {[cell: Cell, letter: string][]} drawn
 * @returns {{ rows?: string[], cells?: Record<string, number[][]> }} */
export function notation(lattice, drawn) {
  const cells = normalized(
    lattice,
    drawn.map(([cell]) => cell),
  );
  const addresses = cells.map((cell) => lattice.address(cell));
  /** @type {Map<string, { row: number, column: number, letters: string[] }>} */
  const places = new Map();
  addresses.forEach(([row, column], i) => {
    const place = places.get(`${row} ${column}`) ?? { row, column, letters: [] };
    place.letters.push(drawn[i][1]);
    places.set(`${row} ${column}`, place);
  });
  const isWhole = [...places.values()].every(
    ({ letters }) =>
      letters.length === lattice.perPlace &&
      letters.every((letter) => letter === letters[0] && letter.length === 1),
  );
  if (isWhole) {
    const [height, width] = [0, 1].map(
      (axis) => 1 + Math.max(...addresses.map((address) => address[axis])),
    );
    const rows = Array.from({ length: height }, () => Array(width).fill("."));
    for (const { row, column, letters } of places.values()) rows[row][column] = letters[0];
    return { rows: rows.map((row) => row.join("")) };
  }
  /** @type {Record<string, number[][]>} */
  const lists = {};
  const order = addresses.map((_, i) => i).sort((a, b) => compare(addresses[a], addresses[b]));
  for (const i of order)
    (lists[drawn[i][1]] ??= []).push(
      lattice.perPlace > 1 ? addresses[i] : addresses[i].slice(0, 2),
    );
  return { cells: lists };
}

/** Whether a value of a file can name a cell by its row and column.
 * @param {unknown} value
 * @returns {value is number[]} */
export const isAddress = (value) =>
  Array.isArray(value) && value.length > 1 && value.every(Number.isInteger);

/** @param {number[]} a
 * @param {number[]} b */
const compare = (a, b) => a.map((value, i) => value - b[i]).find(Boolean) ?? 0;
