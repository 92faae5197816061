// @ts-check
// What of the set file can be drawn, as the server reads it, and the commands that change it.

import { pairs } from "./play-grid.js";

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {import("./lattice.js").Cell} Cell */
/** Cells with the letters of pieces or marks.
 * @typedef {[cell: Cell, letter: string][]} Drawn */
/** A table that can be drawn, by its key and its index in the file.
 * @typedef {{ kind: "cut" | "piece" | "board", index: number }} Place */
/** One with its fields; letters, labels and clues have an item for each cell. See `Drawings.document_of`.
 * @typedef {Place & { exists: boolean, id?: any, count?: any, open?: any, isOfBalls: boolean,
 *   canPaint: boolean, cells: number[], letters: string[], labels: string[], clues: any[],
 *   brushes: { letter: string, fill: string, ink: string, sign: string }[], faults: string[] }} Thing */

/** The letter of a cell without a mark. */
export const PLAIN = "X";
/** What stands for the looks of marks on the sheet. */
export const SIGNS = /** @type {Record<string, string>} */ ({ hole: "○", cross: "+", dot: "●" });

/** What is drawn before anything is read. @type {Thing} */
export const NOTHING = {
  kind: "cut",
  index: 0,
  exists: false,
  isOfBalls: false,
  canPaint: false,
  cells: [],
  letters: [],
  labels: [],
  clues: [],
  brushes: [],
  faults: [],
};

/** @param {Thing} thing
 * @returns {Place} */
export const placeOf = ({ kind, index }) => ({ kind, index });
/** @param {Place} a
 * @param {Place} b */
export const isSamePlace = (a, b) => a.kind === b.kind && a.index === b.index;
/** @param {Thing} thing
 * @returns {Drawn} */
export const drawnBy = ({ cells, letters }) => pairs(cells).map((cell, i) => [cell, letters[i]]);

export class Drawings {
  /** @param {Studio} studio
   * @param {(reason: string) => void} refuse called with the key of a message */
  constructor(studio, refuse) {
    this.studio = studio;
    this.project = studio.project;
    this.refuse = refuse;
  }

  get lattice() {
    return this.studio.lattice;
  }
  /** The looks of the set's marks by letter. */
  get marks() {
    return this.project.reading.marks ?? {};
  }
  get things() {
    return this.project.reading.things;
  }

  /** Has the server change the file; returns whether it did.
   * @param {string} command
   * @param {() => object} argumentsOf
   * @param {(outcome: any) => void} [done] */
  async edit(command, argumentsOf, done) {
    const edit = () => this.project.edit(command, argumentsOf, done);
    const refusal = /** @type {string | undefined} */ (await this.studio.attempt(edit));
    if (refusal) this.refuse(refusal);
    return refusal === "";
  }

  /** The shape of a piece.
   * @param {string} id */
  pieceShape(id) {
    return this.project.shapes?.pieces.find((shape) => shape.id === id);
  }

  /** @param {Thing} thing
   * @param {string} letter
   * @returns {import("./sheet.js").Look} */
  look({ kind, brushes }, letter) {
    const brush = brushes.find((other) => other.letter === letter);
    const { fill, ink, sign } = brush ?? { ...brushes[0], sign: "" };
    if (kind === "board") return { fill: "var(--silhouette)", ink: "var(--ink)", text: "" };
    const text = sign.startsWith("#") ? "" : (SIGNS[sign] ?? sign);
    return { fill, ink, text };
  }

  /** @param {Thing} thing */
  nameOf({ kind, index, id, count }) {
    if (kind === "cut") return this.studio.text("draw_cut");
    return `${this.studio.text(`draw_${kind}`)} ${id ?? index + 1}${count > 1 ? ` × ${count}` : ""}`;
  }
}
