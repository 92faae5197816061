// @ts-check
// The tables of a set file that can be drawn: their cells, their letters, and what these look like.

import { isAddress } from "./lattice.js";
import { pairs } from "./play-grid.js";
import { copyIds } from "./references.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {import("./lattice.js").Cell} Cell */
/** Cells with the letters of pieces or marks.
 * @typedef {[cell: Cell, letter: string][]} Drawn */
/** A table that can be drawn, by its key and its index in the file.
 * @typedef {{ kind: "cut" | "piece" | "board", index: number }} Thing */

/** Ids and marks that are proposed. */
export const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The letter of a cell without a mark. */
export const PLAIN = "X";
/** The keys by which a table can be drawn; painting replaces them all. */
export const DRAWN_BY = ["outline", "cells", "rows", "svg", "balls", "size"];
/** What stands for the looks of marks on the sheet. */
export const SIGNS = /** @type {Record<string, string>} */ ({ hole: "○", cross: "+", dot: "●" });
/** The most rows or columns of a drawing that the file states as a number. */
const MAX_SIDE = 100;

/** @type {Thing} */
export const CUT = { kind: "cut", index: 0 };
/** @param {Thing} thing
 * @param {Thing} other */
export const isSameThing = (thing, other) =>
  thing.kind === other.kind && thing.index === other.index;

export class Drawings {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.project = studio.project;
  }

  get lattice() {
    return this.studio.lattice;
  }
  /** The looks of the set's marks by letter.
   * @returns {Record<string, string>} */
  get marks() {
    return this.project.document?.set?.marks ?? {};
  }

  /** All that can be drawn.
   * @returns {Thing[]} */
  get things() {
    const file = this.project.document ?? {};
    const tables = (/** @type {"piece" | "board"} */ kind) =>
      (Array.isArray(file[kind]) ? file[kind] : []).map(
        (/** @type {any} */ _, /** @type {number} */ index) => ({ kind, index }),
      );
    const things = [...tables("piece"), ...tables("board")];
    return file.cut || !things.length ? [CUT, ...things] : things;
  }

  /** The table of the file, if it is there.
   * @param {Thing} thing
   * @param {any} [file]
   * @returns {any} */
  table({ kind, index }, file = this.project.document ?? {}) {
    const table = kind === "cut" ? file.cut : file[kind]?.[index];
    return table && typeof table === "object" ? table : {};
  }

  /** Changes a table, and what else of the file depends on it.
   * @param {Thing} thing
   * @param {(table: any, file: any) => void} alter */
  change(thing, alter) {
    return this.studio.attempt(() =>
      this.project.change((file) => alter(this.table(thing, file), file)),
    );
  }

  /** What a table draws.
   * @param {Thing} thing
   * @returns {Drawn} */
  drawn(thing) {
    const { lattice } = this;
    const { rows, cells, size } = this.table(thing);
    if (Array.isArray(rows) || Array.isArray(size)) {
      const lines =
        Array.isArray(size) && size.every(Number.isInteger)
          ? Array(Math.min(size[0], MAX_SIDE)).fill(size[1])
          : (rows ?? []);
      return lines.flatMap((/** @type {unknown} */ line, /** @type {number} */ row) =>
        (typeof line === "number"
          ? PLAIN.repeat(Math.min(Math.max(line, 0), MAX_SIDE))
          : String(line)
        )
          .split("")
          .flatMap((letter, column) =>
            letter === "." || letter === " "
              ? []
              : lattice
                  .cellsAt(row, column)
                  .map((cell) => /** @type {[Cell, string]} */ ([cell, letter])),
          ),
      );
    }
    const lists = thing.kind === "cut" ? Object.entries(cells ?? {}) : [[PLAIN, cells]];
    const isRead = lists.every(([, list]) => Array.isArray(list) && list.every(isAddress));
    if (isRead) {
      return lists.flatMap(([letter, list]) =>
        list.flatMap((/** @type {number[]} */ address) =>
          lattice.cellsNamed(address).map((cell) => /** @type {[Cell, string]} */ ([cell, letter])),
        ),
      );
    }
    return pairs(this.shapeOf(thing)?.cells ?? []).map((cell) => [cell, PLAIN]);
  }

  /** Whether a table can be painted: balls do not lie on a plane, and an outline must have been read.
   * @param {Thing} thing */
  canPaint(thing) {
    const { balls, outline, svg } = this.table(thing);
    return (
      Boolean(this.project.document) &&
      !balls &&
      (!(outline || svg) || Boolean(this.shapeOf(thing)))
    );
  }

  /** The shape that the server read from a table of a piece or board.
   * @param {Thing} thing */
  shapeOf(thing) {
    const [id] = copyIds(this.table(thing));
    return /** @type {any} */ (this.project.shapes)?.[`${thing.kind}s`]?.find(
      (/** @type {any} */ shape) => shape.id === id,
    );
  }

  /** The shape of a piece.
   * @param {string} id */
  pieceShape(id) {
    return this.project.shapes?.pieces.find((/** @type {any} */ shape) => shape.id === id);
  }

  /** How the file draws a thing, as a text to compare.
   * @param {Thing} thing */
  signature(thing) {
    const table = this.table(thing);
    const { lattice } = this.project.document?.set ?? {};
    const values = DRAWN_BY.map((name) => table[name]);
    return JSON.stringify([
      thing,
      lattice,
      ...values,
      table.labels,
      table.clue,
      values.some(Array.isArray) ? null : this.shapeOf(thing)?.cells,
    ]);
  }

  /** The letters that can be painted.
   * @param {Thing} thing
   * @returns {string[]} */
  letters(thing) {
    if (thing.kind === "board") return [PLAIN];
    if (thing.kind === "piece") return [PLAIN, ...Object.keys(this.marks)];
    const used = [...new Set(this.drawn(CUT).map(([, letter]) => letter))].sort();
    const next = [...LETTERS].find((letter) => !used.includes(letter));
    return next ? [...used, next] : used;
  }

  /** @param {Thing} thing
   * @param {string} letter
   * @returns {import("./sheet.js").Look} */
  look(thing, letter) {
    const plain = {
      fill: this.fill(thing, letter),
      ink: this.pieceShape(letter)?.ink ?? "#000000",
      text: "",
    };
    if (thing.kind === "board") return { ...plain, ink: "var(--ink)" };
    if (thing.kind === "cut") return { ...plain, text: letter };
    const mark = this.marks[letter];
    if (typeof mark === "string" && mark.startsWith("#"))
      return { fill: mark, ink: "#000000", text: "" };
    return {
      ...plain,
      ink: this.shapeOf(thing)?.ink ?? "#000000",
      text: mark ? (SIGNS[mark] ?? letter) : "",
    };
  }

  /** The colour of a thing, or of a letter of a cut board.
   * @param {Thing} thing
   * @param {string} letter
   * @returns {string} */
  fill(thing, letter) {
    if (thing.kind === "board") return "var(--silhouette)";
    if (thing.kind === "piece")
      return this.table(thing).colour ?? this.shapeOf(thing)?.colour ?? this.palette(thing.index);
    return (
      this.table(CUT).colours?.[letter] ??
      this.pieceShape(letter)?.colour ??
      this.palette(Math.max(0, this.letters(CUT).indexOf(letter)))
    );
  }

  /** @param {number} index */
  palette(index) {
    return this.studio.start.palette[index % this.studio.start.palette.length];
  }

  /** @param {Thing} thing */
  nameOf(thing) {
    if (thing.kind === "cut") return this.studio.text("draw_cut");
    const { id, count } = this.table(thing);
    return `${this.studio.text(`draw_${thing.kind}`)} ${id ?? thing.index + 1}${count > 1 ? ` × ${count}` : ""}`;
  }

  /** The errors of a table.
   * @param {Thing} thing */
  faultsOf({ kind, index }) {
    const place = kind === "cut" ? "cut" : `${kind}[${index}]`;
    return this.project.faults.filter(
      ({ key }) => key === place || key.startsWith(`${place}.`) || key.startsWith(`${place}[`),
    );
  }
}
