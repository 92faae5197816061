// @ts-check
// The view to draw: pieces, boards, or a board that is cut into its pieces; beside it what it comes to.
import { difference, isAddress, movement, normalized, notation } from "./lattice.js";
import { copyIds, movePlaces, renameBoard, renamePieces } from "./references.js";
import { Sheet } from "./sheet.js";
import { Verdict } from "./verdict.js";
import { TextView } from "./text.js";

const { html, svg, viewBox, boxOf, key, pairs, formatMessage } = window.fabkitPlay;

/** @typedef {import("./studio.js").Studio} Studio */
/** @typedef {import("./lattice.js").Cell} Cell */
/** @typedef {[cell: Cell, letter: string][]} Drawn */
/** What is drawn on the sheet: a table of the file, by its key and its index there.
 * @typedef {{ kind: "cut" | "piece" | "board", index: number }} Thing */

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The letter of a cell without a mark. */
const PLAIN = "X";
/** The keys by which a table can be drawn; painting replaces them all. */
const DRAWN_BY = ["outline", "cells", "rows", "svg", "balls", "size"];
/** What stands for the looks of marks on the sheet. */
const LOOKS = /** @type {Record<string, string>} */ ({ hole: "○", cross: "+", dot: "●" });

/** @param {Studio} studio
 * @param {HTMLElement} section */
export const start = (studio, section) => new DrawView(studio, section);

class DrawView {
  /** @param {Studio} studio
   * @param {HTMLElement} section */
  constructor(studio, section) {
    this.studio = studio;
    this.project = studio.project;
    this.list = html("ul", { className: "things" });
    this.head = html("div", { className: "draw-head" });
    this.moves = html("input", { type: "checkbox" });
    this.moves.addEventListener("change", () => studio.attempt(() => studio.project.change((file) => {
      file.set = { ...file.set, moves: this.moves.checked ? "rotations and flips" : "rotations" };
    })));
    this.brushes = html("div", { className: "brushes", role: "radiogroup" });
    this.element = /** @type {SVGSVGElement} */ (svg("svg", { class: "sheet", tabindex: "0", role: "application" }));
    this.keys = html("p", { className: "quiet sheet-keys" });
    this.fault = html("ul", { className: "faults" });
    this.sheet = new Sheet(this.element);
    this.verdict = new Verdict(studio);
    this.textView = new TextView(studio);
    section.classList.add("draw");
    section.append(
      html("div", { className: "draw-things" }, this.head, this.list),
      html("div", { className: "draw-middle" }, this.brushes, this.fault, this.element, this.keys),
      html("div", { className: "draw-side" }, this.verdict.element, this.textView.element));
    /** @type {Thing} */
    this.thing = { kind: "cut", index: 0 };
    /** Where what is drawn stands on the sheet, by how the file draws it: undoing puts it back there.
     * @type {Map<string, Cell>} */
    this.steps = new Map();
    /** How the file draws what is on the sheet. */
    this.shown = "";
    /** What is stamped on the cells of a board, rather than painted.
     * @type {"" | "label" | "clue"} */
    this.stamp = "";
    this.stampText = "1";
    this.stampClue = "";
    /** What is being written to the file.
     * @type {Drawn | null} */
    this.written = null;
    /** The texts of a board's cells.
     * @type {Map<number, string>} */
    this.labels = new Map();
    /** What must cover a board's cells: a piece, a mark or a colour, as in the file.
     * @type {Map<number, string>} */
    this.clues = new Map();
    this.areLabelsRead = this.areCluesRead = true;
    /** Why the last change was taken back: the key of a message. */
    this.refusal = "";
    this.sheet.addEventListener("painted", () => this.write());
    this.sheet.addEventListener("stamp", () => this.stampCell());
    this.sheet.addEventListener("cursor", () => this.tellCursor());
    this.element.addEventListener("keydown", (event) => this.chooseByKey(event));
    this.project.addEventListener("change", () => this.update());
    document.addEventListener("fabkit:language", () => this.update());
    this.opened = "";
    this.update();
  }

  get lattice() { return this.studio.lattice; }

  /** @param {string} name
   * @param {Record<string, string | number>} [values] */
  text(name, values) { return this.studio.text(name, values); }

  /** The tables of the file that can be drawn.
   * @returns {Thing[]} */
  get things() {
    const file = this.project.document ?? {};
    const tables = (/** @type {"piece" | "board"} */ kind) =>
      (Array.isArray(file[kind]) ? file[kind] : []).map((/** @type {any} */ _, /** @type {number} */ index) => ({ kind, index }));
    const all = [...tables("piece"), ...tables("board")];
    return file.cut || !all.length ? [{ kind: "cut", index: 0 }, ...all] : all;
  }

  /** The table of the file, if it is there.
   * @param {Thing} thing
   * @param {any} [file]
   * @returns {any} */
  table({ kind, index }, file = this.project.document ?? {}) {
    const table = kind === "cut" ? file.cut : file[kind]?.[index];
    return table && typeof table === "object" ? table : {};
  }

  // --- from the file to the sheet ---

  /** What a table draws: its cells, with the letters of pieces or marks.
   * @param {Thing} thing
   * @returns {Drawn} */
  drawnBy(thing) {
    const { lattice } = this;
    const table = this.table(thing);
    const { rows, cells, size } = table;
    if (Array.isArray(rows) || Array.isArray(size)) {
      const lines = Array.isArray(size) && size.every(Number.isInteger) ? Array(Math.min(size[0], 100)).fill(size[1]) : rows ?? [];
      return lines.flatMap((/** @type {unknown} */ line, /** @type {number} */ row) =>
        (typeof line === "number" ? PLAIN.repeat(Math.min(Math.max(line, 0), 100)) : String(line)).split("").flatMap((letter, column) =>
          letter === "." || letter === " " ? [] : lattice.cellsAt(row, column).map((cell) => /** @type {[Cell, string]} */ ([cell, letter]))));
    }
    const lists = thing.kind === "cut" ? Object.entries(cells ?? {}) : [[PLAIN, cells]];
    const isRead = lists.every(([, list]) => Array.isArray(list) && list.every(isAddress));
    if (isRead) {
      return lists.flatMap(([letter, list]) => list.flatMap((/** @type {number[]} */ address) =>
        lattice.cellsNamed(address).map((cell) => /** @type {[Cell, string]} */ ([cell, letter]))));
    }
    return pairs(this.shapeOf(thing)?.cells ?? []).map((cell) => [cell, PLAIN]);
  }

  /** The shape that the server read from a table of a piece or board.
   * @param {Thing} thing */
  shapeOf(thing) {
    const [id] = copyIds(this.table(thing));
    return this.project.shapes?.[`${thing.kind}s`]?.find((/** @type {any} */ shape) => shape.id === id);
  }

  /** How the file draws a thing, as a text to compare.
   * @param {Thing} thing */
  signature(thing) {
    const table = this.table(thing);
    const { lattice } = this.project.document?.set ?? {};
    const drawing = DRAWN_BY.map((name) => table[name]);
    return JSON.stringify([thing, lattice, ...drawing, table.labels, table.clue, drawing.some(Array.isArray) ? null : this.shapeOf(thing)?.cells]);
  }

  update() {
    const { project } = this;
    if (this.opened !== `${project.name} ${project.savedText}` && project.isRead && !project.past.length) {
      this.opened = `${project.name} ${project.savedText}`;
      this.steps.clear();
      this.thing = this.things[0];
    }
    const { things } = this;
    const { kind, index } = this.thing;
    if (project.document && !things.some((thing) => thing.kind === kind && thing.index === index)) {
      this.thing = things.findLast((thing) => thing.kind === kind) ?? things[0];
    }
    // A text that is not TOML has no tables to draw; balls and their bonds are not drawn on a plane.
    this.sheet.isOff = !project.document || Boolean(this.table(this.thing).balls);
    this.element.classList.toggle("off", this.sheet.isOff);
    if (project.document || !this.shown) this.load();
    if (!project.document) return this.showText();
    this.showThings();
    this.showBrushes();
    this.showText();
  }

  showText() {
    this.showFaults();
    this.verdict.update();
    this.textView.update();
  }

  /** Puts what the file draws onto the sheet, unless it is there. */
  load() {
    if (this.written) this.remember(this.written);
    const signature = this.signature(this.thing);
    if (signature === this.shown) return this.sheet.draw();
    this.shown = signature;
    const [dx, dy] = this.steps.get(signature) ?? [0, 0];
    const moved = (/** @type {Cell} */ [x, y]) => /** @type {Cell} */ ([x + dx, y + dy]);
    const drawn = this.drawnBy(this.thing).map(([cell, letter]) => /** @type {[Cell, string]} */ ([moved(cell), letter]));
    this.readDetails(moved);
    this.sheet.isOneShape = this.thing.kind !== "cut";
    this.sheet.takesPlace = (letter) => this.thing.kind === "piece" && letter !== PLAIN;
    const painting = new Map(drawn.map(([cell, letter]) => [key(...cell), letter]));
    this.sheet.load(this.lattice, painting, drawn.map(([cell]) => cell), (letter) => this.look(letter), () => this.details());
    if (!this.letters.includes(this.sheet.brush) && this.sheet.brush) this.sheet.brush = this.letters[0];
    if (!this.stamp && !this.sheet.brush) this.sheet.brush = this.letters[0];
  }

  /** Reads the texts and clues of a board from its table; what is written otherwise is left as it is.
   * @param {(cell: Cell) => Cell} moved */
  readDetails(moved) {
    const { lattice } = this;
    const { labels, clue } = this.thing.kind === "board" ? this.table(this.thing) : /** @type {any} */ ({});
    const cells = this.drawnBy(this.thing).map(([cell]) => cell);
    const addresses = cells.map((cell) => lattice.address(cell));
    /** @type {Map<number, number[]>} */
    const columns = new Map();
    for (const [row, column] of addresses) {
      columns.set(row, [...new Set([...(columns.get(row) ?? []), column])].sort((a, b) => a - b));
    }
    const rows = [...columns].sort(([a], [b]) => a - b);
    const words = Array.isArray(labels) ? labels.map((line) => String(line).split(/\s+/).filter(Boolean)) : [];
    this.areLabelsRead = labels === undefined || (words.length === rows.length && rows.every(([, places], i) => places.length === words[i].length));
    this.labels = new Map(!this.areLabelsRead || !labels ? [] : rows.flatMap(([row, places], i) => places.flatMap((column, j) =>
      words[i][j] === "." ? [] : lattice.cellsAt(row, column).map((cell) => /** @type {const} */ ([key(...moved(cell)), words[i][j]])))));
    const clues = Array.isArray(clue) ? clue : [];
    this.areCluesRead = clues.every((/** @type {any} */ table) => Array.isArray(table?.cells) && table.cells.every(isAddress));
    const [top, left] = cells.length ? lattice.origin(Math.min(...addresses.map(([row]) => row)), Math.min(...addresses.map(([, column]) => column))) : [0, 0];
    this.clues = new Map(!this.areCluesRead ? [] : clues.flatMap((/** @type {any} */ { cells: places, ...covers }) =>
      places.flatMap((/** @type {number[]} */ [row, column, ...k]) =>
        lattice.cellsNamed([row + top, column + left, ...k]).map((cell) => /** @type {const} */ ([key(...moved(cell)), JSON.stringify(covers)])))));
  }

  /** The letters that can be painted.
   * @returns {string[]} */
  get letters() {
    if (this.thing.kind === "board") return [PLAIN];
    if (this.thing.kind === "piece") return [PLAIN, ...Object.keys(this.project.document?.set?.marks ?? {})];
    const used = [...new Set(this.drawnBy(this.thing).map(([, letter]) => letter))].sort();
    const next = [...LETTERS].find((letter) => !used.includes(letter));
    return next ? [...used, next] : used;
  }

  /** @param {string} letter
   * @returns {{ fill: string, ink: string, text: string }} */
  look(letter) {
    const { kind } = this.thing;
    if (kind === "board") return { fill: "var(--silhouette)", ink: "var(--ink)", text: "" };
    if (kind === "cut") {
      const shape = this.project.shapes?.pieces.find((/** @type {any} */ piece) => piece.id === letter);
      return { fill: this.colourOf(letter), ink: shape?.ink ?? "#000000", text: letter };
    }
    const mark = this.project.document?.set?.marks?.[letter];
    const shape = this.shapeOf(this.thing);
    const fill = this.table(this.thing).colour ?? shape?.colour ?? this.palette(this.thing.index);
    if (typeof mark === "string" && mark.startsWith("#")) return { fill: mark, ink: "#000000", text: "" };
    return { fill, ink: shape?.ink ?? "#000000", text: mark ? LOOKS[mark] ?? letter : "" };
  }

  /** @param {number} index */
  palette(index) { return this.studio.start.palette[index % this.studio.start.palette.length]; }

  /** The colour of a letter of a cut board.
   * @param {string} letter */
  colourOf(letter) {
    const own = this.table({ kind: "cut", index: 0 }).colours?.[letter];
    const shape = this.project.shapes?.pieces.find((/** @type {any} */ piece) => piece.id === letter);
    return own ?? shape?.colour ?? this.palette(Math.max(0, this.letters.indexOf(letter)));
  }

  /** Texts and clues on the cells of a board. */
  details() {
    if (this.thing.kind !== "board") return [];
    const size = this.lattice.perPlace > 1 ? 18 : 30;
    /** @type {Set<string>} */
    const places = new Set();
    return this.sheet.spots.flatMap(({ key: at, centre: [x, y], address }) => {
      const parts = [];
      const clue = this.clues.get(at);
      if (clue) {
        const { piece, mark, colour } = JSON.parse(clue);
        const shape = this.project.shapes?.pieces.find((/** @type {any} */ drawn) => drawn.id === piece);
        parts.push(svg("circle", { cx: x, cy: y, r: size, fill: colour ?? shape?.colour ?? "var(--paper)", class: "sheet-clue" }));
        const letter = svg("text", { x, y, dy: "0.357em", "font-size": size, fill: shape?.ink ?? "var(--ink)", class: "letter" });
        letter.textContent = shape?.label ?? (mark ? LOOKS[this.project.document?.set?.marks?.[mark]] ?? mark : "");
        parts.push(letter);
      }
      const text = this.labels.get(at);
      const place = address.slice(0, 2).join();
      if (text && !clue && !places.has(place)) {
        places.add(place);
        const there = this.lattice.cellsAt(address[0], address[1]).map((other) => this.lattice.grid.toDrawing(...other));
        const [cx, cy] = there.length > 1 ? [0, 1].map((axis) => there.reduce((sum, point) => sum + point[axis], 0) / there.length) : [x, y];
        const label = svg("text", { x: cx, y: cy, dy: "0.357em", "font-size": Math.min(size, 110 / text.length), fill: "var(--ink)", class: "letter" });
        label.textContent = text;
        parts.push(label);
      }
      return parts;
    });
  }

  // --- from the sheet to the file ---

  /** Draws the thing in the file as it is on the sheet. */
  write() {
    const { thing, lattice } = this;
    const { drawn, moves } = this.sheet;
    const { rows, cells = {} } = drawn.length ? notation(lattice, drawn) : { rows: ["."] };
    if (!rows && thing.kind === "piece" && drawn.some(([, letter]) => letter !== PLAIN)) return this.refuse("draw_marks_whole");
    this.refusal = "";
    for (const map of [this.labels, this.clues]) {
      const carried = moves.map(([from, to]) => /** @type {const} */ ([key(...to), map.get(key(...from))]));
      for (const [from] of moves) map.delete(key(...from));
      for (const [to, value] of carried) if (value !== undefined) map.set(to, value);
    }
    const own = thing.kind === "board" ? this.boardDetails(drawn) : {};
    const step = this.steps.get(this.shown) ?? [0, 0];
    this.written = drawn; // the file changes before `change` returns
    this.studio.attempt(() => this.project.change((file) => {
      file.set ??= { name: this.project.name.replace(/\.toml$/, ""), lattice: lattice.name, moves: "rotations and flips" };
      if (thing.kind === "cut") file.cut ??= {};
      const table = this.table(thing, file);
      const id = thing.kind === "cut" ? table.board ?? "board" : table.id;
      if (thing.kind !== "piece") movePlaces(file, id, this.redrawing(drawn, thing.kind === "board" ? moves : [], step));
      for (const name of DRAWN_BY) delete table[name];
      if (rows) table.rows = rows;
      else table.cells = thing.kind === "cut" ? cells : Object.values(cells).flat().sort((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] ?? 0) - (b[2] ?? 0));
      if (table.colours) {
        const letters = new Set(drawn.map(([, letter]) => letter));
        for (const letter of Object.keys(table.colours)) if (!letters.has(letter)) delete table.colours[letter];
      }
      for (const [name, value] of Object.entries(own)) {
        if (value) table[name] = value;
        else delete table[name];
      }
    }));
    this.written = null;
    this.remember(drawn); // a shape that was moved is the same in the file
  }

  /** How the board of the file becomes the one on the sheet.
   * @param {Drawn} drawn
   * @param {[from: Cell, to: Cell][]} moves on the sheet
   * @param {Cell} step from the file to the sheet */
  redrawing(drawn, moves, [dx, dy]) {
    const { lattice } = this;
    const before = this.drawnBy(this.thing).map(([cell]) => cell);
    const after = normalized(lattice, drawn.map(([cell]) => cell));
    const back = drawn.length ? difference(drawn[0][0], after[0]) : /** @type {Cell} */ ([0, 0]);
    const onSheet = movement(lattice, moves);
    const image = (/** @type {Cell} */ point) => difference(onSheet(difference(point, [-dx, -dy])), back);
    return { lattice, before, after, image };
  }

  /** Takes back what was painted, since the file cannot hold it.
   * @param {string} reason the key of a message */
  refuse(reason) {
    this.refusal = reason;
    this.shown = "";
    this.load();
    this.showFaults();
    this.studio.announce(this.text(reason));
  }

  /** Remembers where on the sheet it stands, and that it is there.
   * @param {Drawn} drawn */
  remember(drawn) {
    this.shown = this.signature(this.thing);
    if (!drawn.length) return;
    const [first] = normalized(this.lattice, drawn.map(([cell]) => cell));
    this.steps.set(this.shown, difference(drawn[0][0], first));
  }

  /** The labels and clues of a board, as its table has them.
   * @param {Drawn} drawn */
  boardDetails(drawn) {
    const { lattice, labels, clues } = this;
    const cells = normalized(lattice, drawn.map(([cell]) => cell));
    const addresses = cells.map((cell) => lattice.address(cell));
    /** @type {Map<number, Map<number, string>>} */
    const words = new Map();
    /** @type {Map<string, number[][]>} */
    const covered = new Map();
    drawn.forEach(([cell], i) => {
      const [row, column] = addresses[i];
      const at = key(...cell);
      const line = words.get(row) ?? new Map();
      line.set(column, labels.get(at) ?? line.get(column) ?? ".");
      words.set(row, line);
      const clue = clues.get(at);
      if (clue) covered.set(clue, [...(covered.get(clue) ?? []), lattice.perPlace > 1 ? addresses[i] : [row, column]]);
    });
    const hasLabels = drawn.some(([cell]) => labels.has(key(...cell)));
    const lines = [...words].sort(([a], [b]) => a - b).map(([, line]) => [...line].sort(([a], [b]) => a - b).map(([, word]) => word).join(" "));
    const clue = covered.size ? [...covered].map(([covers, places]) => ({ cells: places, ...JSON.parse(covers) })) : null;
    return { ...(this.areLabelsRead ? { labels: hasLabels ? lines : null } : {}), ...(this.areCluesRead ? { clue } : {}) };
  }

  /** Puts a text or a clue on the cell of the cursor, or takes it away. */
  stampCell() {
    const { cursor } = this.sheet;
    if (!cursor || !this.sheet.painting.has(cursor.key)) return;
    const isLabel = this.stamp === "label";
    const there = isLabel ? this.lattice.cellsAt(cursor.address[0], cursor.address[1]) : [cursor.cell];
    const map = isLabel ? this.labels : this.clues;
    const value = isLabel ? this.stampText.replaceAll(/\s|^\.$/g, "") : this.stampClue;
    const isSame = map.get(cursor.key) === value;
    for (const cell of there) {
      if (isSame || !value) map.delete(key(...cell));
      else map.set(key(...cell), value);
    }
    // Numbers go on by themselves.
    if (isLabel && !isSame && /^\d+$/.test(value)) this.stampText = String(Number(value) + 1);
    this.sheet.draw();
    this.write();
  }

  // --- the list of what can be drawn ---

  showThings() {
    const { project } = this;
    const title = html("h2", { textContent: this.text("draw_things") });
    this.moves.checked = project.document?.set?.moves !== "rotations";
    const flips = html("label", { className: "check" }, this.moves, html("span", { textContent: this.text("draw_flips") }));
    const hasFocus = document.activeElement === this.moves;
    this.head.replaceChildren(title, flips);
    if (hasFocus) this.moves.focus();
    const focused = this.list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.id : null;
    this.list.replaceChildren(...this.things.map((thing) => this.thingItem(thing)), this.addItem());
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-id="${focused}"]`))?.focus();
  }

  /** @param {Thing} thing */
  nameOf(thing) {
    if (thing.kind === "cut") return this.text("draw_cut");
    const { id, count } = this.table(thing);
    return `${this.text(`draw_${thing.kind}`)} ${id ?? thing.index + 1}${count > 1 ? ` × ${count}` : ""}`;
  }

  /** @param {Thing} thing */
  thingItem(thing) {
    const isChosen = thing.kind === this.thing.kind && thing.index === this.thing.index;
    const isAtFault = this.faultsOf(thing).length > 0;
    const button = html("button", { type: "button", className: "thing" }, this.thumbnail(thing), html("span", { textContent: this.nameOf(thing) }));
    button.dataset.id = `${thing.kind}-${thing.index}`;
    button.setAttribute("aria-pressed", String(isChosen));
    button.classList.toggle("wrong", isAtFault);
    button.addEventListener("click", () => this.choose(thing));
    const item = html("li", {}, button);
    if (thing.kind !== "cut" || this.project.document?.cut) {
      const remove = html("button", { type: "button", className: "round", textContent: "×", ariaLabel: this.text("draw_remove", { name: this.nameOf(thing) }) });
      remove.dataset.id = `remove-${thing.kind}-${thing.index}`;
      remove.addEventListener("click", () => this.remove(thing));
      item.append(remove);
    }
    return item;
  }

  addItem() {
    const add = (/** @type {"piece" | "board"} */ kind) => {
      const button = html("button", { type: "button", className: "plain", textContent: this.text(`draw_add_${kind}`) });
      button.dataset.id = `add-${kind}`;
      button.addEventListener("click", () => this.add(kind));
      return button;
    };
    return html("li", { className: "add" }, add("piece"), add("board"));
  }

  /** @param {Thing} thing */
  choose(thing) {
    this.thing = thing;
    this.stamp = this.refusal = "";
    this.sheet.tool = "paint";
    this.sheet.brush = "";
    this.update();
  }

  /** @param {"piece" | "board"} kind */
  add(kind) {
    const tables = this.project.document?.[kind] ?? [];
    const cut = this.table({ kind: "cut", index: 0 });
    const cutIds = kind === "piece" ? this.drawnBy({ kind: "cut", index: 0 }).map(([, letter]) => letter) : [cut.board ?? "board"];
    const ids = new Set([...tables.map((/** @type {any} */ { id }) => id), ...cutIds]);
    const names = kind === "piece" ? [...LETTERS] : ["board", ...Array.from({ length: 99 }, (_, i) => `board-${i + 2}`)];
    const id = names.find((name) => !ids.has(name)) ?? `${kind}-${tables.length + 1}`;
    const drawn = kind === "board" ? { size: [4, 4] } : { rows: ["X"] };
    this.thing = { kind, index: tables.length };
    this.studio.attempt(() => this.project.change((file) => { (file[kind] ??= []).push({ id, ...drawn }); }));
  }

  /** @param {Thing} thing */
  remove(thing) {
    this.studio.attempt(() => this.project.change((file) => {
      if (thing.kind === "cut") delete file.cut;
      else file[thing.kind].splice(thing.index, 1);
      if (thing.kind !== "cut" && !file[thing.kind].length) delete file[thing.kind];
    }));
  }

  /** A small picture of what a table draws.
   * @param {Thing} thing */
  thumbnail(thing) {
    const { grid } = this.lattice;
    const drawn = this.drawnBy(thing);
    const picture = svg("svg", { class: "thumb", "aria-hidden": "true" });
    if (!drawn.length) return picture;
    const letters = [...new Set(drawn.map(([, letter]) => letter))];
    const groups = thing.kind === "cut" ? letters : [""];
    const rings = groups.map((group) => grid.ringsOf(drawn.filter(([, letter]) => !group || letter === group).map(([cell]) => cell)));
    const table = this.table(thing);
    const plain = thing.kind === "board" ? "var(--silhouette)" : table.colour ?? this.shapeOf(thing)?.colour ?? this.palette(thing.index);
    groups.forEach((group, i) => picture.append(svg("path", { d: grid.path(rings[i]), fill: group ? this.colourOf(group) : plain, class: "body" })));
    picture.setAttribute("viewBox", viewBox(grid, boxOf(rings.flat()), 10).join(" "));
    return picture;
  }

  // --- brushes and tools ---

  showBrushes() {
    const { sheet, thing } = this;
    const focused = this.brushes.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.brush : null;
    const parts = [];
    const swatch = (/** @type {string} */ name, /** @type {string} */ label, /** @type {boolean} */ isOn, /** @type {() => void} */ choose, /** @type {string} */ colour = "", /** @type {string} */ text = "") => {
      const button = html("button", { type: "button", className: "brush", textContent: text, ariaLabel: label, title: label });
      button.dataset.brush = name;
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(isOn));
      button.style.setProperty("--colour", colour || "transparent");
      button.addEventListener("click", () => { choose(); this.showBrushes(); });
      return button;
    };
    const isPainting = sheet.tool === "paint" && !this.stamp;
    const use = (/** @type {() => void} */ set) => () => { Object.assign(this, { stamp: "" }); sheet.tool = "paint"; set(); };
    for (const letter of this.letters) {
      const { fill, ink, text } = this.look(letter);
      const label = thing.kind === "cut" ? this.text("draw_brush", { letter }) : thing.kind === "board" ? this.text("draw_cell") : letter === PLAIN ? this.text("draw_cell") : this.text("draw_mark", { letter });
      const button = swatch(`brush-${letter}`, label, isPainting && sheet.brush === letter, use(() => { sheet.brush = letter; }), fill, text);
      button.style.color = ink;
      parts.push(button);
    }
    parts.push(swatch("erase", this.text("draw_erase"), isPainting && !sheet.brush, use(() => { sheet.brush = ""; }), "", "⌫"));
    parts.push(swatch("move", this.text("draw_move"), sheet.tool === "move", () => { this.stamp = ""; sheet.tool = "move"; }, "", "✥"));
    if (thing.kind === "board") {
      const stampWith = (/** @type {"label" | "clue"} */ name) => () => { this.stamp = name; sheet.tool = "stamp"; };
      parts.push(swatch("label", this.text("draw_label"), this.stamp === "label", stampWith("label"), "", "12"));
      parts.push(swatch("clue", this.text("draw_clue"), this.stamp === "clue", stampWith("clue"), "", "◉"));
    }
    this.brushes.ariaLabel = this.text("draw_brushes");
    this.brushes.replaceChildren(...parts, ...this.turnButtons(), ...this.options());
    if (focused) /** @type {HTMLElement | null} */ (this.brushes.querySelector(`[data-brush="${focused}"]`))?.focus();
    const name = this.nameOf(this.thing);
    this.element.ariaLabel = this.text("draw_sheet", { name });
    this.keys.textContent = this.text("draw_keys");
  }

  turnButtons() {
    return /** @type {const} */ ([["left", "⟲"], ["right", "⟳"], ["flip", "⇋"]]).map(([way, sign]) => {
      const button = html("button", { type: "button", className: "brush", textContent: sign, ariaLabel: this.text(`draw_turn_${way}`), title: this.text(`draw_turn_${way}`) });
      button.dataset.brush = `turn-${way}`;
      button.addEventListener("click", () => this.sheet.turn(way));
      return button;
    });
  }

  /** Fields for what is drawn: its name and colour, the cells that stay open, what is stamped. */
  options() {
    const { thing } = this;
    const table = this.table(thing);
    const field = (/** @type {string} */ name, /** @type {any} */ input) => {
      input.dataset.brush = `field-${name}`;
      return html("label", { className: "field" }, html("span", { textContent: this.text(name) }), input);
    };
    const set = (/** @type {string} */ name, /** @type {unknown} */ value) => this.studio.attempt(() => this.project.change((file) => {
      const own = this.table(thing, file);
      if (value === undefined || value === "") delete own[name];
      else own[name] = value;
    }));
    const input = (/** @type {Record<string, unknown>} */ properties, /** @type {(input: HTMLInputElement) => void} */ change) => {
      const element = html("input", properties);
      element.addEventListener("change", () => change(element));
      return element;
    };
    const fields = [];
    if (thing.kind !== "cut") {
      fields.push(field("draw_id", input({ value: table.id ?? "", size: 6, spellcheck: false }, ({ value }) => this.rename(value))));
    }
    if (thing.kind === "piece") {
      fields.push(
        field("draw_colour", input({ type: "color", value: this.look(PLAIN).fill }, ({ value }) => set("colour", value))),
        field("draw_count", input({ type: "number", min: 1, max: 99, value: table.count ?? 1 }, ({ value }) => this.renumber(Math.floor(Number(value))))));
      const marks = this.project.document?.set?.marks ?? {};
      const looks = Object.keys(LOOKS).filter((look) => !Object.values(marks).includes(look));
      if (looks.length) {
        const choices = [["", "–"], ...looks.map((look) => [look, `${LOOKS[look]} ${this.text(`draw_look_${look}`)}`])];
        const select = html("select", {}, ...choices.map(([value, textContent]) => html("option", { value, textContent })));
        select.addEventListener("change", () => this.addMark(select.value));
        fields.push(field("draw_add_mark", select));
      }
    } else if (thing.kind === "cut" && this.sheet.brush) {
      const letter = this.sheet.brush;
      const isDrawn = this.drawnBy(thing).some(([, other]) => other === letter);
      if (isDrawn) fields.push(field("draw_colour", input({ type: "color", value: this.colourOf(letter) }, ({ value }) => set("colours", { ...table.colours, [letter]: value }))));
    } else if (thing.kind === "board") {
      fields.push(field("draw_open", input({ type: "number", min: 0, max: 99, value: table.open ?? 0 }, ({ value }) => set("open", Number(value) > 0 ? Math.floor(Number(value)) : undefined))));
      if (this.stamp === "label") {
        fields.push(field("draw_label_text", input({ value: this.stampText, size: 5, maxLength: 5 }, ({ value }) => { this.stampText = value; })));
      }
      if (this.stamp === "clue") {
        const pieces = (this.project.shapes?.pieces ?? []).map((/** @type {any} */ { id }) => [JSON.stringify({ piece: id }), this.text("draw_clue_piece", { id })]);
        const marks = Object.keys(this.project.document?.set?.marks ?? {}).map((mark) => [JSON.stringify({ mark }), this.text("draw_mark", { letter: mark })]);
        const choices = [...pieces, ...marks];
        if (!choices.some(([value]) => value === this.stampClue)) this.stampClue = choices[0]?.[0] ?? "";
        const select = html("select", {}, ...choices.map(([value, textContent]) => html("option", { value, textContent, selected: value === this.stampClue })));
        select.addEventListener("change", () => { this.stampClue = select.value; });
        fields.push(field("draw_clue_of", select));
      }
    }
    return fields;
  }

  /** Gives the thing another name, also wherever the file names it.
   * @param {string} name */
  rename(name) {
    const { thing } = this;
    const isTaken = this.things.some(({ kind, index }) => index !== thing.index && kind === thing.kind
      && String(this.table({ kind, index }).id).toLowerCase() === name.toLowerCase());
    this.refusal = !name || isTaken ? "draw_name_taken" : "";
    if (this.refusal) {
      this.studio.announce(this.text(this.refusal));
      return this.update();
    }
    if (thing.kind === "board") {
      const { id } = this.table(thing);
      return this.changeTable((table, file) => { table.id = name; renameBoard(file, id, name); });
    }
    return this.changePiece({ id: name });
  }

  /** @param {number} count of equal pieces */
  renumber(count) { return this.changePiece({ count: count > 1 ? count : undefined }); }

  /** Changes the name of a piece or the number of its copies, also wherever the file names them.
   * @param {{ id?: string, count?: number }} values */
  changePiece(values) {
    const before = copyIds(this.table(this.thing));
    return this.changeTable((table, file) => {
      for (const [key, value] of Object.entries(values)) value === undefined ? delete table[key] : table[key] = value;
      renamePieces(file, new Map(copyIds(table).map((id, i) => [before[i], id])));
    });
  }

  /** @param {(table: any, file: any) => void} alter */
  changeTable(alter) {
    const { thing } = this;
    return this.studio.attempt(() => this.project.change((file) => alter(this.table(thing, file), file)));
  }

  /** Lets the set's pieces have marks of a look, and paints with them.
   * @param {string} look */
  addMark(look) {
    const marks = this.project.document?.set?.marks ?? {};
    const letter = [...look, ...LETTERS].find((other) => !(other in marks) && other !== PLAIN);
    if (!look || !letter) return;
    this.sheet.brush = letter;
    this.studio.attempt(() => this.project.change((file) => { file.set.marks = { ...marks, [letter]: look }; }));
  }

  /** Digits choose a brush.
   * @param {KeyboardEvent} event */
  chooseByKey(event) {
    const place = "123456789".indexOf(event.key);
    if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const brush = /** @type {HTMLElement | null} */ (this.brushes.querySelectorAll("[role=radio]")[place]);
    brush?.click();
    if (brush) this.studio.announce(brush.ariaLabel ?? "");
  }

  /** Says where the cursor is, for who does not see it. */
  tellCursor() {
    const { cursor, painting } = this.sheet;
    if (!cursor) return;
    const [row, column, k] = cursor.address;
    const letter = painting.get(cursor.key);
    const there = letter === undefined ? this.text("draw_nothing") : this.thing.kind === "cut" ? letter : this.text("draw_filled");
    const place = this.lattice.perPlace > 1 ? `${row + 1}, ${column + 1}, ${k + 1}` : `${row + 1}, ${column + 1}`;
    this.studio.announce(formatMessage("{place}: {there}", { place, there }));
  }

  // --- errors ---

  /** The errors of a table.
   * @param {Thing} thing */
  faultsOf({ kind, index }) {
    const place = kind === "cut" ? "cut" : `${kind}[${index}]`;
    return this.project.faults.filter(({ key: at }) => at === place || at.startsWith(`${place}.`) || at.startsWith(`${place}[`));
  }

  showFaults() {
    const isEmpty = this.project.document && !this.sheet.drawn.length && this.things.length === 1 && this.thing.kind === "cut";
    const faults = isEmpty ? [] : this.faultsOf(this.thing);
    const hints = isEmpty ? ["draw_empty"] : this.table(this.thing).balls ? ["draw_balls"] : this.refusal ? [this.refusal] : [];
    const texts = [...hints.map((name) => this.text(name)), ...faults.map(({ message }) => message)];
    this.fault.classList.toggle("hint", hints.length > 0);
    this.fault.replaceChildren(...texts.map((textContent) => html("li", { textContent })));
  }
}
