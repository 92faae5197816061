// Language, colours, zoom, the layout of the tray, and the pictures of how to play.
import { drawPiece, formatMessage, html, previewGame, svg, viewBox } from "./play-draw.js";
import { pairs, UNIT } from "./play-grid.js";
import { readItem, writeItem } from "./play-store.js";

/** @import { Session } from "./play-session.js" */

const data = window.FABKIT;
const root = document.documentElement;
/** The elements of the page that are not plain ones.
 * @typedef {{ board: SVGSVGElement, how: HTMLDialogElement, days: HTMLDialogElement,
 *   "dead-end": HTMLInputElement, language: HTMLSelectElement, theme: HTMLSelectElement,
 *   unsolved: HTMLInputElement }} Elements */

/** An element of the page.
 * @type {<Name extends string>(
 *   name: Name) => Name extends keyof Elements ? Elements[Name] : HTMLElement} */
export const find = (name) => /** @type {any} */ (document.getElementById(`play-${name}`));
data.messages = {}; // messages in the current language; filled by `localize`

/** The reader's settings, shared by the pages of all sets. */
export class Settings {
  constructor() {
    /** @type {{ schema: number, language?: string, theme?: string, meter?: boolean, seen?: boolean,
     *   deadEnd?: boolean }} */
    this.values = { schema: 1 };
    this.read();
    for (const name of /** @type {const} */ (["language", "theme"])) {
      find(name).addEventListener("change", () => this.set(name, find(name).value));
    }
    window.addEventListener("storage", () => this.read() && this.apply());
    this.apply();
  }

  /** Reads the stored settings; returns whether there are any. */
  read() {
    const saved = readItem("fabkit");
    return saved?.schema === 1 && Boolean(Object.assign(this.values, saved));
  }

  /** @template {"language" | "theme" | "meter" | "seen" | "deadEnd"} Name
   * @param {Name} name
   * @param {Settings["values"][Name]} value */
  set(name, value) {
    this.read();
    this.values[name] = value;
    writeItem("fabkit", this.values); // if that fails, they last as long as the page
    this.apply();
  }

  /** The chosen language; else the page's default; else the browser's, if supported.
   * @returns {string} */
  get language() {
    const own = (navigator.languages ?? []).map((language) => language.slice(0, 2));
    return /** @type {string} */ (
      [this.values.language, data.defaultLanguage, ...own, "en"].find((language) =>
        Object.hasOwn(data.translations, String(language)),
      )
    );
  }

  apply() {
    const theme = ["light", "dark"].find((name) => name === this.values.theme) ?? "auto";
    root.dataset.theme = find("theme").value = theme;
    find("language").value = this.language;
    if (data.language !== this.language) localize(this.language);
  }
}

/** Translates the page, and notifies scripts with further texts.
 * @param {string} language */
function localize(language) {
  data.language = root.lang = language;
  Object.assign(data.messages, data.translations[language]);
  data.entries.forEach(
    (entry, place) => (entry.title = data.titles[language][place] ?? entry.title),
  );
  /** @param {string} key */
  const text = (key) => formatMessage(data.messages[key], { unit: data.unitMm });
  for (const labelled of document.querySelectorAll("[data-text]")) {
    labelled.textContent = text(labelled.dataset.text);
    if (labelled.parentElement?.title && !labelled.ariaHidden)
      labelled.parentElement.title = labelled.textContent;
  }
  for (const labelled of document.querySelectorAll("[data-label]")) {
    labelled.setAttribute("aria-label", text(labelled.dataset.label));
    if (labelled.title) labelled.title = text(labelled.dataset.label);
  }
  for (const labelled of document.querySelectorAll("[data-around]")) {
    const [before, after] = data.messages[labelled.dataset.around].split(/\{\w+\}/);
    labelled.replaceChildren(
      before,
      /** @type {HTMLElement} */ (labelled.querySelector("bdi")),
      after,
    );
  }
  document.dispatchEvent(new CustomEvent("fabkit:language"));
}

/** Zooms the board in steps or with two fingers. */
export class Zoom {
  /** @param {HTMLElement} stage
   * @param {Session} session */
  constructor(stage, session) {
    this.stage = stage;
    this.scale = 1;
    /** @type {{ from: number[], scale: number } | null} */
    this.pinch = null;
    stage.addEventListener("touchstart", (event) => {
      if (event.touches.length !== 2) return;
      session.cancel();
      this.pinch = { from: touchSpan(event.touches), scale: this.scale };
    });
    stage.addEventListener(
      "touchmove",
      (event) => {
        if (event.touches.length !== 2 || !this.pinch) return;
        event.preventDefault();
        const [x, y, far] = touchSpan(event.touches);
        this.set((this.pinch.scale * far) / this.pinch.from[2], x, y);
      },
      { passive: false },
    );
    stage.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.set(this.scale * 2 ** (-event.deltaY / 200), event.clientX, event.clientY);
      },
      { passive: false },
    );
  }

  /** @type {(factor: number) => void} */
  step(factor) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    this.set(this.scale * factor, left + width / 2, top + height / 2);
  }

  /** Zooms to a scale from 1 to 4 around a point of the screen.
   * @type {(scale: number, x?: number, y?: number) => void} */
  set(scale, x = 0, y = 0) {
    const { stage } = this;
    const board = find("board");
    const before = board.getBoundingClientRect();
    this.scale = Math.min(4, Math.max(1, scale));
    stage.style.setProperty("--zoom", String(this.scale));
    stage.classList.toggle("zoomed", this.scale > 1);
    const after = board.getBoundingClientRect();
    stage.scrollLeft += after.left - x + ((x - before.left) / before.width) * after.width;
    stage.scrollTop += after.top - y + ((y - before.top) / before.height) * after.height;
    find("zoom").textContent = `${Math.round(100 * this.scale)} %`;
  }
}

/** Midpoint and distance of two fingers.
 * @param {TouchList} touches */
function touchSpan([{ clientX: x, clientY: y }, { clientX: x2, clientY: y2 }]) {
  return [(x + x2) / 2, (y + y2) / 2, Math.hypot(x - x2, y - y2)];
}

/** Padding of a drawing in the tray, the minimum size of a touch target, and the intended one of labels. */
const [PAD_PX, LEAST_PX, LABEL_PX] = [8, 44, 11];

/** Scales the tray's pieces to the available room, at most to their size on the board; returns the
 * scale, or 0 if they do not fit.
 * @type {(tray: HTMLElement, maximum: number) => number} */
export function fitTray(tray, maximum) {
  const slots = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (tray.children)];
  const reaches = slots.map((slot) => Number(slot.style.getPropertyValue("--reach")));
  const { clientWidth: width, clientHeight: height } = tray;
  /** @param {number} unit */
  const fits = (unit) => {
    let [used, rows, row] = [0, 0, 0];
    for (const reach of reaches) {
      const side = Math.max(LEAST_PX, reach * unit + PAD_PX);
      if (used && used + side > width) [rows, used, row] = [rows + row, 0, 0];
      [used, row] = [used + side, Math.max(row, side)];
    }
    return rows + row <= height && Math.max(...reaches) * unit + PAD_PX <= width;
  };
  let unit = Math.floor(maximum);
  while (unit > 8 && !fits(unit)) unit -= 1;
  tray.style.setProperty("--unit", `${unit}px`);
  tray.style.setProperty("--label", String(Math.min(1.3, Math.max(1, LABEL_PX / (0.45 * unit))))); // readable on small pieces
  return fits(unit) ? unit : 0;
}

/** A single piece, its view box and centre, and its scale to fit a square of 100.
 * @param {number} piece
 * @param {number} orientation */
function framed(piece, orientation) {
  const game = previewGame(data, 1);
  const group = svg("g", { class: "piece" });
  drawPiece(group, game, piece, orientation);
  const box = viewBox(game.grid, game.shape(piece, orientation).box, 3);
  const [left, top, width, height] = box;
  const scale = 96 / Math.max(width, height, 2 * UNIT);
  return { group, box, middle: [left + width / 2, top + height / 2], scale };
}

/** A piece in a square of 100, centred at a point.
 * @param {number} piece
 * @param {number} orientation
 * @param {number} x
 * @param {number} y */
function placed(piece, orientation, x, y) {
  const { group, middle, scale } = framed(piece, orientation);
  const [mx, my] = middle;
  group.setAttribute("transform", `translate(${x} ${y}) scale(${scale}) translate(${-mx} ${-my})`);
  return group;
}

/** A drawing of a piece for printing, with grid units of 5 mm.
 * @type {(piece: number) => SVGSVGElement} */
export function pieceDrawing(piece) {
  const { group, box } = framed(piece, 0);
  const [width, height] = box.slice(2).map((side) => `${(side / UNIT) * 5}mm`);
  return svg("svg", { viewBox: box.join(" "), width, height }, group);
}

const ARROWS = {
  drag: "M112 75H172M160 63L172 75L160 87",
  turn: "M114 82A34 34 0 0 1 172 66M174 48V68H154",
  over: "M142 30V120M130 54L112 75L130 96M154 54L172 75L154 96",
};

/** The pictures of how to play, drawn with a piece of the set. */
export function howToSteps() {
  // The piece with the most orientations shows rotations best; of those the most compact.
  const [[piece]] = data.pieces
    .map(({ orientations }, place) => [place, orientations.length, framed(place, 0).scale])
    .sort((first, second) => second[1] - first[1] || second[2] - first[2]);
  const { orientations } = data.pieces[piece];
  const over = orientations[0].flip ?? orientations[0].over ?? 0;
  const { middle, scale } = framed(piece, 0);
  const [x, y] = middle;
  const cells = pairs(orientations[0].cells).map((cell) =>
    previewGame(data, 1).grid.toDrawing(...cell),
  );
  const [cx, cy] = cells[cells.length - 1];
  const finger = { cx: 56 + (cx - x) * scale, cy: 75 + (cy - y) * scale, r: 15 };
  const kinds = { drag: 0, turn: orientations[0].right, ...(over && { over }) };
  return /** @type {[keyof typeof ARROWS, number][]} */ (Object.entries(kinds)).map(
    ([kind, orientation]) => {
      const picture = svg("svg", { viewBox: "0 0 284 150", "aria-hidden": "true", class: kind });
      const after = placed(piece, orientation, 228, 75);
      if (kind === "drag")
        picture.append(svg("rect", { x: 172, y: 19, width: 112, height: 112, rx: 10 }));
      after.classList.add("after");
      const arrow = svg("path", { d: ARROWS[kind], class: "arrow" });
      picture.append(
        placed(piece, 0, 56, 75),
        arrow,
        after,
        svg("circle", { ...finger, class: "finger" }),
      );
      return html("li", {}, picture, html("span", {}, data.messages[`how_${kind}`]));
    },
  );
}
