// @ts-check
// What other tables of a set file call by the name of a piece or a board, or by a place on a board: they
// follow when it gets another name, or when the board is drawn anew.
import { isAddress } from "./lattice.js";

/** @typedef {import("./lattice.js").Lattice} Lattice */
/** @typedef {import("./lattice.js").Cell} Cell */
/** A board that is drawn anew: its cells before and after, and the image of any point of the frame.
 * @typedef {{ lattice: Lattice, before: Cell[], after: Cell[], image: (point: Cell) => Cell }} Redrawing */

/** Keys of a challenge that draws its own region, with its own places. */
const REGIONS = ["outline", "rows", "frame"];

/** @param {any} value of a file, which may have errors */
const isTable = (value) => value?.constructor === Object;
/** The tables in a list of a file.
 * @param {any} list
 * @returns {any[]} */
const tablesIn = (list) => (Array.isArray(list) ? list.filter(isTable) : []);

/** The ids of the pieces that a table makes.
 * @param {any} table
 * @returns {string[]} */
export const copyIds = ({ id, count }) =>
  count > 1
    ? Array.from({ length: count }, (_, i) => `${id}${/\d$/.test(id) ? "-" : ""}${i + 1}`)
    : [id];

/** @param {any} file
 * @param {Map<string, string>} names new names by old ones */
export function renamePieces(file, names) {
  const renamed = (/** @type {string} */ name) => names.get(name) ?? name;
  const renameIn = (/** @type {any} */ table, /** @type {string} */ key) => {
    if (names.has(table[key])) table[key] = renamed(table[key]);
  };
  for (const table of [...tablesIn(file.challenge), ...tablesIn(file.family)]) {
    const { pieces, result } = table;
    if (typeof pieces === "string" || Array.isArray(pieces)) {
      const ids = [...pieces].map(renamed);
      // In a text, each character is an id.
      const isText = typeof pieces === "string" && ids.every((id) => id.length === 1);
      table.pieces = isText ? ids.join("") : ids;
    }
    for (const given of tablesIn(table.given)) renameIn(given, "piece");
    if (isTable(result?.solution))
      result.solution = Object.fromEntries(
        Object.entries(result.solution).map(([id, cells]) => [renamed(id), cells]),
      );
  }
  for (const clue of [...tablesIn(file.board), ...tablesIn(file.challenge)].flatMap((table) =>
    tablesIn(table.clue),
  )) {
    renameIn(clue, "piece");
    renameIn(clue, "colour"); // that of a piece
  }
}

/** @param {any} file
 * @param {string} before
 * @param {string} after */
export function renameBoard(file, before, after) {
  if (!before) return;
  for (const table of [...tablesIn(file.challenge), ...tablesIn(file.family)]) {
    for (const key of ["board", "of"]) if (table[key] === before) table[key] = after;
  }
}

/** The rows and columns of a board, as a file counts them.
 * @param {Lattice} lattice
 * @param {Cell[]} cells */
function numbering(lattice, cells) {
  const addresses = cells.map((cell) => lattice.address(cell));
  const [top, left] = lattice.corner(addresses);
  const places = new Map(
    addresses.map(([row, column]) => [`${row} ${column}`, [row - top, column - left]]),
  );
  return { top, left, places: [...places.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]) };
}

/** Names the same cells on a board that is drawn anew. A cell that is no longer on it is named where it
 * would be, which the reader of the file reports.
 * @param {any} file
 * @param {string} id of the board
 * @param {Redrawing} redrawing */
export function movePlaces(file, id, { lattice, before, after, image }) {
  if (!before.length || !after.length) return;
  const [oldNumbering, newNumbering] = [before, after].map((cells) => numbering(lattice, cells));
  const boards = [
    ...(file.cut ? [{ id: file.cut.board ?? "board" }] : []),
    ...tablesIn(file.board),
  ];
  const isDefault = boards.find(({ optional }) => !optional)?.id === id;

  const moved = (/** @type {any} */ item) => {
    const place = Number.isInteger(item) ? oldNumbering.places[item] : item;
    if (!isAddress(place)) return item; // a label, which its cell keeps
    const [cell] = lattice.cellsNamed([
      place[0] + oldNumbering.top,
      place[1] + oldNumbering.left,
      ...place.slice(2),
    ]);
    if (!cell) return item;
    const [row, column, k] = lattice.address(image(cell));
    const target = [row - newNumbering.top, column - newNumbering.left];
    if (place.length > 2) return [...target, k];
    const number = newNumbering.places.findIndex((other) => other.join() === target.join());
    return place === item || number < 0 ? target : number;
  };
  /** Corners in units of length, or points of the frame, in lists of any depth.
   * @type {(value: any, unit: number) => any} */
  const movedPoints = (value, unit) => {
    if (!Array.isArray(value)) return value;
    if (typeof value[0] !== "number") return value.map((part) => movedPoints(part, unit));
    return image([value[0] * unit, value[1] * unit]).map((coordinate) => coordinate / unit);
  };
  const { ux } = lattice.grid;
  /** @type {Record<string, (value: any) => any>} */
  const readings = {
    cells: (items) => items.map(moved),
    outline: (value) => movedPoints(value, ux),
    frame: (value) => movedPoints(value, 1),
  };
  readings.minus = readings.cells;
  const moveIn = (/** @type {any} */ table, /** @type {string[]} */ keys) => {
    for (const key of keys) if (Array.isArray(table[key])) table[key] = readings[key](table[key]);
  };
  const moveClues = (/** @type {any} */ table) =>
    tablesIn(table.clue).forEach((clue) => moveIn(clue, ["cells", "frame"]));

  tablesIn(file.board)
    .filter((board) => board.id === id)
    .forEach(moveClues);
  const isOn = (/** @type {any} */ { board }) => (board === undefined ? isDefault : board === id);
  for (const challenge of tablesIn(file.challenge).filter(
    (table) => isOn(table) && !REGIONS.some((key) => key in table),
  )) {
    moveIn(challenge, ["cells", "minus"]);
    moveClues(challenge);
    for (const given of tablesIn(challenge.given)) moveIn(given, ["cells", "outline", "frame"]);
    const { solution } = challenge.result ?? {};
    const reading = readings[lattice.writesOutlines ? "outline" : "cells"];
    if (isTable(solution))
      challenge.result.solution = Object.fromEntries(
        Object.entries(solution).map(([piece, cells]) => [
          piece,
          Array.isArray(cells) ? reading(cells) : cells,
        ]),
      );
  }
  for (const family of tablesIn(file.family).filter(isOn)) {
    if (!Array.isArray(family.groups)) continue;
    const cells = family.groups.flatMap((/** @type {any} */ group) =>
      Array.isArray(group) ? group : [],
    );
    family.groups = family.groups.map((/** @type {any} */ group) =>
      Array.isArray(group) ? group.map(moved) : group,
    );
    const names = new Map(
      cells.map((/** @type {any} */ item) => [
        choiceName(item, oldNumbering.places),
        choiceName(moved(item), newNumbering.places),
      ]),
    );
    if (Array.isArray(family.without))
      family.without = family.without.map((/** @type {any} */ name) =>
        String(name)
          .split("-")
          .map((part) => names.get(part) ?? part)
          .join("-"),
      );
  }
}

/** How the choices of a family that do not go together name a cell.
 * @param {any} item
 * @param {number[][]} places
 * @returns {string} */
function choiceName(item, places) {
  const [row, column, k] = isAddress(item) ? item : (places[item] ?? []);
  return typeof item === "string" ? item : `r${row}c${column}${k === undefined ? "" : `k${k}`}`;
}
