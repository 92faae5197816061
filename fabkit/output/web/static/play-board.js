"use strict";
// The board: the region, the pieces that lie on it, and where one that is dragged would land.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { svg } = play;

  /** The drawing that is played on. Pieces are drawn once and moved from then on. */
  class Board {
    /** @param {SVGSVGElement} element */
    constructor(element) {
      this.element = element;
      this.region = svg("g");
      this.layer = svg("g");
      this.faults = svg("path", { class: "doubled", fill: "url(#play-hatch)" });
      this.ghost = svg("path", { class: "ghost" });
      /** Along the outline of the piece that is selected; seen while it has the focus. */
      this.ring = svg("g", { class: "ring" }, svg("path"), svg("path"));
      const stripe = svg("path", { d: "M0 0V14", class: "stripe" });
      const hatch = svg("pattern", {
        id: "play-hatch", width: 14, height: 14, patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      }, stripe);
      element.replaceChildren(
        svg("defs", {}, hatch), this.region, this.layer, this.faults, this.ghost, this.ring,
      );
      /** @type {Map<number, SVGGElement>} */
      this.groups = new Map();
    }

    /** Shows a challenge. */
    open(game) {
      this.game = game;
      const box = play.viewBox(game.grid, game.field);
      this.element.setAttribute("viewBox", box.join(" "));
      this.element.style.setProperty("--wide", box[2] / box[3]);
      play.drawRegion(this.region, game);
      this.groups = new Map([...game.lying.keys()].map((piece) => [piece, this.group(piece)]));
      this.layer.replaceChildren(...this.groups.values());
      this.preview(null);
    }

    group(piece) {
      const group = svg("g", { class: "piece" });
      group.dataset.piece = this.game.data.pieces[piece].id;
      if (this.game.fixed.has(piece)) {
        group.classList.add("given");
        group.setAttribute("role", "img");
      } else {
        group.setAttribute("role", "button");
      }
      return group;
    }

    /**
     * Shows where the pieces lie now.
     * @param {object} verdict of `Game.judge`
     * @param {(piece: number) => string} name what a piece is called
     * @param {number | null} selected
     */
    update(verdict, name, selected) {
      const { game } = this;
      for (const [piece, group] of this.groups) {
        const { way, at } = game.lying.get(piece);
        group.classList.toggle("gone", !at);
        group.classList.toggle("selected", piece === selected);
        group.classList.toggle("wrong", verdict.overlaps.has(piece));
        if (!at) {
          group.removeAttribute("tabindex");
          continue;
        }
        if (!game.fixed.has(piece)) group.setAttribute("tabindex", "0");
        if (group.dataset.way !== String(way)) {
          play.drawPiece(group, game, piece, way);
          group.dataset.way = way;
        }
        const [x, y] = game.grid.drawn(...at);
        group.style.transform = `translate(${x}px, ${y}px)`;
        group.setAttribute("aria-label", name(piece));
      }
      const chosen = selected === null ? null : game.lying.get(selected);
      for (const path of this.ring.childNodes) this.outline(path, selected, chosen);
      this.faults.setAttribute("d", game.grid.pathOfCells(verdict.doubled));
      this.element.classList.toggle("solved", verdict.solved);
    }

    /** Draws a piece above the others, which are moved instead of it: so it keeps the focus. */
    raise(piece) {
      const group = this.groups.get(piece);
      while (group?.nextSibling) this.layer.insertBefore(group.nextSibling, group);
    }

    /** Shows where a piece would land; null for nowhere. */
    preview(piece, lying = null) {
      this.outline(this.ghost, piece, lying);
    }

    /** Lays a path along a piece that lies on the board; nowhere if it does not. */
    outline(path, piece, lying) {
      const shape = lying?.at && this.game.shape(piece, lying.way);
      path.setAttribute("d", shape ? this.game.grid.path(shape.rings) : "");
      if (!shape) return;
      const [x, y] = this.game.grid.drawn(...lying.at);
      path.setAttribute("transform", `translate(${x} ${y})`);
    }

    /** How many pixels of the screen a unit of the drawing has, and where its 0 is. */
    get place() {
      const { a, e, f } = this.element.getScreenCTM();
      return { scale: a, left: e, top: f };
    }

    /** Whether a point of the screen lies on the board. */
    holds(x, y) {
      const { left, top, right, bottom } = this.element.getBoundingClientRect();
      return x >= left && x <= right && y >= top && y <= bottom;
    }
  }

  Object.assign(play, { Board });
})();
