// @ts-check
"use strict";
// Drawing of pieces and regions. Texts always become text nodes.
(() => {
  const play = (window.fabkitPlay ??= /** @type {Fabkit.Play} */ ({}));
  const { UNIT, pairs } = play;
  const SVG = "http://www.w3.org/2000/svg";

  /** Creates an SVG element with attributes.
   * @type {Fabkit.Play["svg"]} */
  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
  }

  /** Creates an HTML element with properties.
   * @type {Fabkit.Play["html"]} */
  function html(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  /** Fills the placeholders of a message.
   * @type {Fabkit.Play["formatMessage"]} */
  const formatMessage = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  /** Formats the message for a count of things.
   * @type {Fabkit.Play["formatCount"]} */
  const formatCount = (messages, key, count) => formatMessage(messages[`${key}_${count === 1 ? "one" : "many"}`], { count });

  /** Draws a piece into a group, with the lattice's anchor at the origin.
   * @type {Fabkit.Play["drawPiece"]} */
  function drawPiece(group, game, piece, orientation) {
    const { grid, data } = game;
    const { colour, ink, faint, tone, label, orientations } = data.pieces[piece];
    const shape = game.shape(piece, orientation);
    const body = { d: grid.path(shape.rings), fill: colour, class: "body" };
    /** @type {SVGElement[]} */
    const parts = [svg("path", data.ball ? { ...body, "fill-opacity": 0.35 } : body)];
    if (data.ball) parts.push(...balls(grid, shape.cells, data.ball, { fill: colour }));
    if (orientations[orientation].tones) {
      const toned = orientations[orientation].tones.map((ring) => ring.map((value) => value * grid.halves));
      parts.push(svg("path", { d: grid.path(toned), fill: tone, class: "tone" }));
      parts.push(svg("path", { ...body, fill: "none", class: "body edge" }));
    }
    const [x, y, size] = orientations[orientation].label;
    const [left, base] = grid.toDrawing(x * grid.halves, y * grid.halves);
    const letter = { x: left, y: base, dy: "0.357em", "font-size": size * UNIT };
    const text = svg("text", { ...letter, fill: ink, class: "letter", "aria-hidden": "true" });
    text.textContent = label;
    text.style.setProperty("--faint", faint); // on a given piece, which is faded
    group.replaceChildren(...parts, text);
  }

  /** Redraws a piece if its orientation has changed; returns whether it has.
   * @type {Fabkit.Play["redrawPiece"]} */
  function redrawPiece(group, game, piece, orientation) {
    const isNew = group.dataset.orientation !== String(orientation);
    if (isNew) drawPiece(group, game, piece, orientation);
    group.dataset.orientation = String(orientation);
    return isNew;
  }

  /** Circles at the centres of cells.
   * @type {(grid: Fabkit.Grid, cells: Fabkit.Point[], diameter: number, style: Fabkit.Attributes) => SVGElement[]} */
  function balls(grid, cells, diameter, style) {
    return cells.map(([x, y]) => {
      const [cx, cy] = grid.toDrawing(x, y);
      return svg("circle", { cx, cy, r: (diameter / 2) * UNIT, ...style });
    });
  }

  /** Draws a region: its shape, and faint lines between cells or sockets for balls.
   * @type {Fabkit.Play["drawRegion"]} */
  function drawRegion(group, game) {
    const { grid, entry, data } = game;
    const outline = grid.path(entry.rings);
    const ground = svg("path", { d: outline, class: "ground" });
    const inside = data.ball
      ? balls(grid, pairs(entry.cells), data.ball, { class: "socket" })
      : [svg("path", { d: gridLines(game), class: "joints" })];
    group.replaceChildren(ground, ...inside, svg("path", { d: outline, class: "rim" }));
  }

  /** The lines between units of area of a region.
   * @param {Fabkit.Game} game */
  function gridLines({ grid, entry }) {
    const seen = new Set();
    const lines = [];
    for (const [from, to] of pairs(entry.cells).flatMap((cell) => grid.linesOf(cell))) {
      const name = [from, to].map(([x, y]) => play.key(x, y)).sort((a, b) => a - b).join();
      if (seen.has(name)) lines.push(`M${grid.toDrawing(...from)}L${grid.toDrawing(...to)}`);
      seen.add(name);
    }
    return lines.join("");
  }

  /** The view box around a box in frame points, with a margin.
   * @type {Fabkit.Play["viewBox"]} */
  function viewBox(grid, [left, bottom, right, top], margin = 0) {
    const [x0, y0] = grid.toDrawing(left, top);
    const [x1, y1] = grid.toDrawing(right, bottom);
    return [x0 - margin, y0 - margin, x1 - x0 + 2 * margin, y1 - y0 + 2 * margin];
  }

  const grids = /** @type {Fabkit.FullMap<number, Fabkit.Grid>} */ (new Map());

  /** A stand-in for a game, to draw pieces outside the board; grids are cached.
   * @type {Fabkit.Play["previewGame"]} */
  function previewGame(data, halves) {
    if (!grids.has(halves)) grids.set(halves, new play.Grid(data.lattice, halves));
    const grid = grids.get(halves);
    return { data, grid, shape: (piece, orientation) => grid.shape(data.pieces[piece].orientations[orientation]) };
  }

  /** Width and height of a challenge's region, in grid units.
   * @type {Fabkit.Play["sizeOf"]} */
  function sizeOf(data, entry) {
    const box = viewBox(previewGame(data, entry.halves).grid, play.boxOf(entry.rings));
    return [box[2] / UNIT, box[3] / UNIT];
  }

  /** A small picture of a challenge with its given pieces, hidden from screen readers.
   * @type {Fabkit.Play["picture"]} */
  function picture(data, entry, unit) {
    const game = previewGame(data, entry.halves);
    const { grid } = game;
    const given = entry.given.map(([piece, orientation, x, y]) => {
      const group = svg("g", { class: "piece given" });
      drawPiece(group, game, piece, orientation);
      const [left, top] = grid.toDrawing(x, y);
      group.setAttribute("transform", `translate(${left} ${top})`);
      return group;
    });
    const box = viewBox(grid, play.boxOf(entry.rings), 6);
    const [width, height] = box.slice(2).map((side) => (side / UNIT) * unit);
    const region = svg("path", { d: grid.path(entry.rings), class: "silhouette" });
    const attributes = { viewBox: box.join(" "), width, height, "aria-hidden": "true" };
    return svg("svg", attributes, region, ...given);
  }

  Object.assign(play, /** @satisfies {Partial<Fabkit.Play>} */ ({
    svg, html, formatMessage, formatCount, drawPiece, redrawPiece, drawRegion, viewBox, previewGame, sizeOf, picture,
  }));
})();
