"use strict";
// Drawing pieces and regions. Texts become text nodes, whatever they hold.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { UNIT, pairs } = play;
  const SVG = "http://www.w3.org/2000/svg";

  /**
   * An element of a drawing.
   * @param {string} tag
   * @param {Record<string, string | number>} attributes
   * @param {...Node} children
   */
  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  /**
   * An element of the page.
   * @param {string} tag
   * @param {Record<string, unknown>} properties
   * @param {...(Node | string)} children
   */
  function html(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  /**
   * A text with its places filled.
   * @param {string} text such as "{piece} is turned."
   * @param {Record<string, string | number>} values
   */
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  /**
   * Draws a piece into a group, its lattice's anchor at 0.
   * @param {SVGElement} group
   * @param {object} game
   * @param {number} piece
   * @param {number} way
   */
  function drawPiece(group, game, piece, way) {
    const { grid, data } = game;
    const { colour, ink, tone, label, ways } = data.pieces[piece];
    const shape = game.shape(piece, way);
    const body = { d: grid.path(shape.rings), fill: colour, class: "body" };
    const parts = [svg("path", data.ball ? { ...body, "fill-opacity": 0.35 } : body)];
    if (data.ball) parts.push(...balls(grid, shape.cells, data.ball, { fill: colour }));
    if (ways[way].tones) {
      const toned = ways[way].tones.map((ring) => ring.map((value) => value * grid.halves));
      parts.push(svg("path", { d: grid.path(toned), fill: tone, class: "tone" }));
      parts.push(svg("path", { ...body, fill: "none", class: "body edge" }));
    }
    const [x, y, size] = ways[way].label;
    const [left, base] = grid.drawn(x * grid.halves, y * grid.halves);
    const letter = { x: left, y: base, dy: "0.357em", "font-size": size * UNIT, fill: ink };
    const text = svg("text", { ...letter, class: "letter", "aria-hidden": "true" });
    text.textContent = label;
    group.replaceChildren(...parts, text);
  }

  /** Circles on the middles of cells, which are a grid unit apart. */
  function balls(grid, cells, diameter, style) {
    return cells.map(([x, y]) => {
      const [cx, cy] = grid.drawn(x, y);
      return svg("circle", { cx, cy, r: (diameter / 2) * UNIT, ...style });
    });
  }

  /** The ground of a region: its shape, and faint lines between cells or seats for balls. */
  function drawRegion(group, game) {
    const { grid, entry, data } = game;
    const outline = grid.path(entry.rings);
    const ground = svg("path", { d: outline, class: "ground" });
    const inside = data.ball
      ? balls(grid, pairs(entry.cells), data.ball, { class: "seat" })
      : [svg("path", { d: joints(game), class: "joints" })];
    group.replaceChildren(ground, ...inside, svg("path", { d: outline, class: "rim" }));
  }

  /** The lines between whole cells of a region; not those between the quarters of a square. */
  function joints({ grid, entry }) {
    const seen = new Set();
    const lines = [];
    const quarters = grid.kinds.size > 1;
    for (const [x, y] of pairs(entry.cells)) {
      const ring = grid.kindOf(x, y).corners.map(([dx, dy]) => [x + dx, y + dy]);
      ring.forEach((from, i) => {
        const to = ring[(i + 1) % ring.length];
        if (quarters && from[0] !== to[0] && from[1] !== to[1]) return;
        const name = [from, to].map((point) => play.key(...point)).sort((a, b) => a - b).join();
        if (seen.has(name)) lines.push(`M${grid.drawn(...from)}L${grid.drawn(...to)}`);
        seen.add(name);
      });
    }
    return lines.join("");
  }

  /** The view box around some corners of the frame, with a margin. */
  function viewBox(grid, [left, bottom, right, top], margin = 0) {
    const [x0, y0] = grid.drawn(left, top);
    const [x1, y1] = grid.drawn(right, bottom);
    return [x0 - margin, y0 - margin, x1 - x0 + 2 * margin, y1 - y0 + 2 * margin];
  }

  /**
   * A region as a small picture, which says nothing to a screen reader.
   * @param {object} data of the page
   * @param {object} entry
   */
  function silhouette(data, entry) {
    const grid = new play.Grid(data.lattice, entry.halves);
    const box = viewBox(grid, play.boxOf(entry.rings), 6);
    const path = svg("path", { d: grid.path(entry.rings), class: "silhouette" });
    return svg("svg", { viewBox: box.join(" "), "aria-hidden": "true" }, path);
  }

  Object.assign(play, { svg, html, fill, drawPiece, drawRegion, viewBox, silhouette });
})();
