"use strict";
// The tray: the pieces that do not lie on the board, each a button with a drawing. Of the others an
// outline stays, so that nothing moves when one is taken.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { UNIT, svg, html } = play;

  /** The list of pieces. A piece that is on the board leaves its outline in its place. */
  class Tray {
    /** @param {HTMLElement} element a list */
    constructor(element) {
      this.element = element;
      /** @type {Map<number, {button: HTMLButtonElement, group: SVGGElement, trace: SVGElement}>} */
      this.slots = new Map();
    }

    /** Shows the pieces of a challenge that are not given. */
    open(game) {
      this.game = game;
      const pieces = [...game.lying.keys()].filter((piece) => !game.fixed.has(piece));
      this.slots = new Map(pieces.map((piece) => [piece, this.slot(piece)]));
      const widest = Math.max(1, ...pieces.map((piece) => this.reach(piece)));
      this.element.style.setProperty("--widest", widest);
      this.element.replaceChildren(
        ...[...this.slots].map(([piece, { button, trace }]) => {
          const item = html("li", {}, trace, button);
          item.style.setProperty("--reach", this.reach(piece));
          return item;
        }),
      );
    }

    slot(piece) {
      const group = svg("g", { class: "piece" });
      const left = svg("path");
      const half = (this.reach(piece) * UNIT) / 2 + 4;
      const box = [-half, -half, 2 * half, 2 * half].join(" ");
      const drawing = svg("svg", { viewBox: box, "aria-hidden": "true" }, group);
      const trace = svg("svg", { viewBox: box, "aria-hidden": "true", class: "trace" }, left);
      const button = html("button", { type: "button", className: "slot" }, drawing);
      button.dataset.piece = this.game.data.pieces[piece].id;
      return { button, group, trace };
    }

    /** The longest side of a piece in grid units, however it lies. */
    reach(piece) {
      const { grid } = this.game;
      const sides = this.game.ways(piece).slice(0, this.game.count(piece)).flatMap((_, way) => {
        const [left, bottom, right, top] = this.game.shape(piece, way).box;
        const [width, height] = grid.drawn(right - left, bottom - top);
        return [width / UNIT, height / UNIT];
      });
      return Math.max(...sides);
    }

    /**
     * Shows which pieces are in the tray now, and how they lie.
     * @param {(piece: number) => string} name what a piece is called
     * @param {number | null} selected
     */
    update(name, selected) {
      for (const [piece, { button, group, trace }] of this.slots) {
        const { way, at } = this.game.lying.get(piece);
        button.classList.toggle("gone", Boolean(at));
        button.classList.toggle("selected", piece === selected);
        if (group.dataset.way !== String(way)) {
          play.drawPiece(group, this.game, piece, way);
          group.dataset.way = way;
          const { box: [left, bottom, right, top], rings } = this.game.shape(piece, way);
          const [x, y] = this.game.grid.drawn((left + right) / 2, (bottom + top) / 2);
          trace.firstChild.setAttribute("d", this.game.grid.path(rings));
          for (const one of [group, trace.firstChild]) {
            one.setAttribute("transform", `translate(${-x} ${-y})`);
          }
        }
        button.setAttribute("aria-label", name(piece));
      }
    }
  }

  Object.assign(play, { Tray });
})();
