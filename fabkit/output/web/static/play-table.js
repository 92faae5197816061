"use strict";
// The table: one challenge with its board and tray, and everything that can be done on it.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { fill } = play;

  /** What is played on. */
  class Table {
    /**
     * @param {object} data of the page
     * @param {object} store what the browser keeps
     * @param {{board: SVGSVGElement, tray: HTMLElement}} elements
     * @param {(text: string) => void} say tells what happened
     */
    constructor(data, store, elements, say) {
      this.data = data;
      this.words = data.words;
      this.store = store;
      this.say = say;
      this.board = new play.Board(elements.board);
      this.tray = new play.Tray(elements.tray);
      this.hand = new play.Hand(this);
      /** Called after every change with what is right and wrong. */
      this.changed = () => {};
    }

    /** Lays out a challenge as it was left. */
    open(entry) {
      this.hand.cancel();
      this.game = new play.Game(this.data, entry);
      this.store.restore(this.game);
      this.selected = null;
      this.carried = null;
      this.board.open(this.game);
      this.tray.open(this.game);
      for (const [piece, { button, group }] of this.tray.slots) {
        this.hand.attach(button, piece, group);
        const lying = this.board.groups.get(piece);
        this.hand.attach(lying, piece, lying);
        for (const one of [button, lying]) {
          one.addEventListener("focus", () => this.raising || this.select(piece));
        }
      }
      this.update();
    }

    /** Shows how things stand, and keeps it. */
    update() {
      const focused = document.activeElement;
      const verdict = this.game.judge();
      const name = (piece) => this.name(piece, verdict);
      this.board.update(verdict, name, this.selected);
      this.tray.update(name, this.selected);
      for (const [piece, group] of this.board.groups) {
        group.classList.toggle("carried", piece === this.carried);
      }
      this.store.keep(this.game, verdict.solved && this.game.hasFree);
      this.changed(verdict);
      this.follow(focused);
      return verdict;
    }

    /** Keeps the focus with a piece that went to the board or the tray; what had it is gone. */
    follow(focused) {
      if (!focused?.classList.contains("gone")) return;
      const id = focused.dataset.piece;
      this.focus(this.data.pieces.findIndex((piece) => piece.id === id));
    }

    /** What a piece is called, with where it is. */
    name(piece, verdict) {
      const { words, game } = this;
      const values = { piece: this.data.pieces[piece].id, ...this.place(piece) };
      if (game.fixed.has(piece)) return fill(words.piece_given, values);
      if (!game.lying.get(piece).at) return fill(words.piece_tray, values);
      return [fill(words.piece_board, values), ...this.troubles(piece, verdict)].join(", ");
    }

    /** The column and row of a piece's upper left, counted from the region's. */
    place(piece) {
      const { game } = this;
      const { at } = game.lying.get(piece);
      if (!at) return {};
      const box = game.shape(piece).box;
      const { ux, vy, halves } = game.grid;
      const steps = [(box[0] + at[0] - game.box[0]) / ux, (game.box[3] - box[3] - at[1]) / vy];
      const format = new Intl.NumberFormat(this.data.language);
      const [column, row] = steps.map((step) => format.format(1 + Math.floor(step + 1e-9) / halves));
      return { column, row };
    }

    /** What is wrong with where a piece lies, in words. */
    troubles(piece, { overlaps, outside }) {
      const others = [...(overlaps.get(piece) ?? [])].map((one) => this.data.pieces[one].id);
      const found = others.length ? [fill(this.words.overlaps, { others: others.join(", ") })] : [];
      return outside.has(piece) ? [...found, this.words.outside] : found;
    }

    /** Shows how things stand, and tells it: what was done, and what is wrong with a piece. */
    tell(text, piece = null) {
      const verdict = this.update();
      const parts = piece === null ? [] : this.troubles(piece, verdict);
      this.say(verdict.solved ? this.cheer() : [text, ...parts].join(" · "));
    }

    cheer() {
      const { hints } = this.game;
      return hints ? play.counted(this.words, "solved_hints", hints) : this.words.solved;
    }

    /** A text about a piece. */
    about(key, piece) {
      return fill(this.words[key], { piece: this.data.pieces[piece].id, ...this.place(piece) });
    }

    select(piece) {
      if (this.selected === piece) return;
      if (this.carried !== piece) this.release();
      this.selected = piece;
      this.update();
    }

    /** The keyboard carries nothing any more: what it carried stays where it is. */
    release() {
      if (this.carried !== null) this.game.settle();
      this.carried = null;
    }

    /** Moves a piece: a step, or part of the one that the keyboard makes as it carries the piece. */
    move(piece, lying) {
      this.game[this.carried === piece ? "nudge" : "put"](piece, lying);
    }

    /** Moves the focus to a piece, wherever it is. */
    focus(piece) {
      const lies = this.game.lying.get(piece).at;
      const element = lies ? this.board.groups.get(piece) : this.tray.slots.get(piece).button;
      element.focus({ preventScroll: true });
    }

    /** Draws a piece above the others; the focus stays where it is. */
    raise(piece) {
      const active = document.activeElement;
      this.raising = true;
      this.board.raise(piece);
      if (active !== document.activeElement) active.focus({ preventScroll: true });
      this.raising = false;
    }

    /** Puts down what a pointer dragged. */
    drop(piece, lying) {
      this.game.put(piece, lying);
      this.raise(piece);
      this.tell(this.about(lying.at ? "say_placed" : "say_tray", piece), piece);
      this.focus(piece);
    }

    turn(hand) {
      this.change("say_turned", (piece) => this.game.turned(piece, hand));
    }

    flip() {
      const piece = this.selected;
      if (piece !== null && !this.game.canFlip(piece)) this.say(this.about("say_no_flip", piece));
      else this.change("say_flipped", (one) => this.game.flipped(one));
    }

    /**
     * Takes back the turn of a first tap, unless it changed nothing, and turns over.
     * @param {Map<number, object>} before where the pieces lay before that tap
     */
    flipInstead(before) {
      if (this.game.past.at(-1)?.lying === before) this.game.undo();
      this.flip();
    }

    change(key, how) {
      const piece = this.selected;
      if (piece === null) return this.say(this.words.say_select);
      if (this.hand.held?.moving) return this.hand.change(how);
      this.move(piece, how(piece));
      this.raise(piece);
      this.tell(this.about(key, piece), piece);
      return this.focus(piece);
    }

    /** Picks a piece up with the keyboard, or puts it down; not while a pointer holds one. */
    pickUp(piece) {
      if (this.hand.held) return;
      if (this.carried === piece) this.putDown();
      else this.carry(piece);
    }

    carry(piece) {
      const { game } = this;
      this.selected = this.carried = piece;
      game.remember();
      const { way, at } = game.lying.get(piece);
      if (!at) game.nudge(piece, { way, at: this.middle(piece, way) });
      this.raise(piece);
      this.tell(this.about("say_carried", piece));
      this.focus(piece);
    }

    /** Where a piece lies in the middle of the board. */
    middle(piece, way) {
      const [left, bottom, right, top] = this.game.box;
      const [x, y] = this.game.shape(piece, way).middle;
      const step = this.game.grid.nearestStep((left + right) / 2 - x, (bottom + top) / 2 - y);
      return this.game.kept(piece, way, step);
    }

    putDown() {
      const piece = this.carried;
      this.release();
      this.tell(this.about("say_placed", piece), piece);
    }

    /** Moves what the keyboard carries by one step. */
    step(right, up) {
      const { game, carried } = this;
      const { way, at } = game.lying.get(carried);
      const next = game.grid.neighbour(at, right, up);
      if (!game.isKept(carried, way, next)) return this.say(this.about("say_edge", carried));
      game.nudge(carried, { way, at: next });
      return this.tell(this.about("say_moved", carried), carried);
    }

    toTray() {
      if (this.hand.held) return this.hand.cancel();
      const piece = this.selected;
      if (piece === null) return this.say(this.words.say_select);
      this.move(piece, this.game.taken(piece));
      this.release();
      this.tell(this.about("say_tray", piece));
      return this.focus(piece);
    }

    hint() {
      this.hand.cancel();
      const onPiece = Boolean(document.activeElement?.dataset.piece);
      const piece = play.hint(this.game);
      if (piece === null) {
        const known = Boolean(this.game.entry.solution);
        return this.say(known ? this.cheer() : this.words.say_no_hint);
      }
      this.selected = piece;
      this.carried = null;
      this.raise(piece);
      this.tell(this.about("say_hint", piece));
      return onPiece && this.focus(piece);
    }

    undo() {
      this.back("undo", "say_undone");
    }

    redo() {
      this.back("redo", "say_redone");
    }

    back(which, key) {
      if (this.hand.held) return;
      this.carried = null;
      if (this.game[which]()) this.tell(this.words[key]);
      else this.update();
    }

    reset() {
      this.hand.cancel();
      this.carried = null;
      this.game.reset();
      this.tell(this.words.say_reset);
    }
  }

  /** A text about some number of things. */
  play.counted = (words, key, count) => fill(words[`${key}_${count === 1 ? "one" : "many"}`], { count });

  Object.assign(play, { Table });
})();
