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

/** @param {Cell[]} cells */
export const middle = (cells) =>
  [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length);
