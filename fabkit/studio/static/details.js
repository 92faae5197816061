// @ts-check
// What stands on the cells of a board: texts, and clues on what must cover them.

import { SIGNS } from "./drawings.js";
import { isAddress, normalized } from "./lattice.js";
import { svg } from "./play-draw.js";
import { key } from "./play-grid.js";

/** @typedef {import("./drawings.js").Drawings} Drawings */
/** @typedef {import("./drawings.js").Drawn} Drawn */
/** @typedef {import("./drawings.js").Thing} Thing */
/** @typedef {import("./lattice.js").Cell} Cell */
/** @typedef {import("./sheet.js").Spot} Spot */

export class Details {
  /** @param {Drawings} drawings */
  constructor(drawings) {
    this.drawings = drawings;
    /** The texts by the keys of cells on the sheet.
     * @type {Map<number, string>} */
    this.labels = new Map();
    /** What must cover cells: a piece, a mark or a colour, as in the file.
     * @type {Map<number, string>} */
    this.clues = new Map();
    /** Whether the file has them in a form that is read here. */
    this.areLabelsRead = true;
    this.areCluesRead = true;
  }

  /** Reads the texts and clues of a board from its table; what is written otherwise is left as it is.
   * @param {Thing} thing
   * @param {(cell: Cell) => Cell} onSheet where a cell of the file is on the sheet */
  read(thing, onSheet) {
    const {
      drawings,
      drawings: { lattice },
    } = this;
    const { labels, clue } =
      thing.kind === "board" ? drawings.table(thing) : /** @type {any} */ ({});
    const addresses = drawings.drawn(thing).map(([cell]) => lattice.address(cell));
    /** @type {Map<number, number[]>} */
    const columns = new Map();
    for (const [row, column] of addresses) {
      columns.set(
        row,
        [...new Set([...(columns.get(row) ?? []), column])].sort((a, b) => a - b),
      );
    }
    const rows = [...columns].sort(([a], [b]) => a - b);
    const words = Array.isArray(labels)
      ? labels.map((line) => String(line).split(/\s+/).filter(Boolean))
      : [];
    this.areLabelsRead =
      labels === undefined ||
      (words.length === rows.length &&
        rows.every(([, places], i) => places.length === words[i].length));
    this.labels = new Map(
      !this.areLabelsRead || !labels
        ? []
        : rows.flatMap(([row, places], i) =>
            places.flatMap((column, j) =>
              words[i][j] === "."
                ? []
                : lattice
                    .cellsAt(row, column)
                    .map((cell) => /** @type {const} */ ([key(...onSheet(cell)), words[i][j]])),
            ),
          ),
    );
    const clues = Array.isArray(clue) ? clue : [];
    this.areCluesRead = clues.every(
      (/** @type {any} */ table) => Array.isArray(table?.cells) && table.cells.every(isAddress),
    );
    const [top, left] = lattice.corner(addresses);
    this.clues = new Map(
      !this.areCluesRead
        ? []
        : clues.flatMap((/** @type {any} */ { cells, ...covers }) =>
            cells.flatMap((/** @type {number[]} */ [row, column, ...k]) =>
              lattice
                .cellsNamed([row + top, column + left, ...k])
                .map(
                  (cell) => /** @type {const} */ ([key(...onSheet(cell)), JSON.stringify(covers)]),
                ),
            ),
          ),
    );
  }

  /** Takes them along with cells that are moved.
   * @param {[from: Cell, to: Cell][]} moves */
  move(moves) {
    for (const map of [this.labels, this.clues]) {
      const carried = moves.map(
        ([from, to]) => /** @type {const} */ ([key(...to), map.get(key(...from))]),
      );
      for (const [from] of moves) map.delete(key(...from));
      for (const [target, value] of carried) if (value !== undefined) map.set(target, value);
    }
  }

  /** The keys of a board's table that hold them; null for one that holds nothing.
   * @param {Drawn} drawn the cells of the board on the sheet
   * @returns {Record<string, any>} */
  toTable(drawn) {
    const {
      labels,
      clues,
      drawings: { lattice },
    } = this;
    const addresses = normalized(
      lattice,
      drawn.map(([cell]) => cell),
    ).map((cell) => lattice.address(cell));
    /** @type {Map<number, Map<number, string>>} */
    const words = new Map();
    /** @type {Map<string, number[][]>} */
    const covered = new Map();
    drawn.forEach(([cell], i) => {
      const [row, column] = addresses[i];
      const line = words.get(row) ?? new Map();
      line.set(column, labels.get(key(...cell)) ?? line.get(column) ?? ".");
      words.set(row, line);
      const clue = clues.get(key(...cell));
      if (clue)
        covered.set(clue, [
          ...(covered.get(clue) ?? []),
          lattice.perPlace > 1 ? addresses[i] : [row, column],
        ]);
    });
    const hasLabels = drawn.some(([cell]) => labels.has(key(...cell)));
    const lines = [...words]
      .sort(([a], [b]) => a - b)
      .map(([, line]) =>
        [...line]
          .sort(([a], [b]) => a - b)
          .map(([, word]) => word)
          .join(" "),
      );
    const tables = [...covered].map(([covers, cells]) => ({ cells, ...JSON.parse(covers) }));
    return {
      ...(this.areLabelsRead && { labels: hasLabels ? lines : null }),
      ...(this.areCluesRead && { clue: tables.length ? tables : null }),
    };
  }

  /** Puts a text or a clue on a cell, or takes it away; returns whether it stands there now.
   * @param {"label" | "clue"} kind
   * @param {Spot} spot
   * @param {string} value */
  stamp(kind, { cell, key: own, address: [row, column] }, value) {
    const map = kind === "label" ? this.labels : this.clues;
    const isAdded = Boolean(value) && map.get(own) !== value;
    for (const target of kind === "label" ? this.drawings.lattice.cellsAt(row, column) : [cell]) {
      if (isAdded) map.set(key(...target), value);
      else map.delete(key(...target));
    }
    return isAdded;
  }

  /** @param {Spot[]} spots
   * @returns {SVGElement[]} */
  draw(spots) {
    const {
      drawings,
      drawings: { lattice },
    } = this;
    const size = lattice.perPlace > 1 ? 18 : 30;
    const letter = (
      /** @type {number[]} */ [x, y],
      /** @type {number} */ height,
      /** @type {string} */ ink,
      /** @type {string} */ text,
    ) => {
      const element = svg("text", {
        x,
        y,
        dy: "0.357em",
        "font-size": height,
        fill: ink,
        class: "letter",
      });
      element.textContent = text;
      return element;
    };
    /** Places whose text is drawn.
     * @type {Set<string>} */
    const labelled = new Set();
    return spots.flatMap(({ key: own, centre, address: [row, column] }) => {
      const clue = this.clues.get(own);
      if (clue) {
        const { piece, mark, colour } = JSON.parse(clue);
        const shape = drawings.pieceShape(piece);
        const disc = svg("circle", {
          cx: centre[0],
          cy: centre[1],
          r: size,
          fill: colour ?? shape?.colour ?? "var(--paper)",
          class: "sheet-clue",
        });
        return [
          disc,
          letter(
            centre,
            size,
            shape?.ink ?? "var(--ink)",
            shape?.label ?? (mark ? (SIGNS[drawings.marks[mark]] ?? mark) : ""),
          ),
        ];
      }
      const text = this.labels.get(own);
      if (!text || labelled.has(`${row} ${column}`)) return [];
      labelled.add(`${row} ${column}`);
      const points = lattice.cellsAt(row, column).map((cell) => lattice.grid.toDrawing(...cell));
      const middle = [0, 1].map(
        (axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length,
      );
      return [letter(middle, Math.min(size, 110 / text.length), "var(--ink)", text)];
    });
  }
}
