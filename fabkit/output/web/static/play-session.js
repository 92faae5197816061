// @ts-check
"use strict";
// The session: one open challenge with its board and tray, and all actions of the player.
(() => {
  const play = (window.fabkitPlay ??= /** @type {Fabkit.Play} */ ({}));
  const { formatMessage } = play;
  const TICK_MS = 500; // interval of the clock
  const SOLVE_MS = 500; // so long a solution is searched that is not stored
  const KEEP_MS = 10000; // interval of saving the time while nothing else happens

  class Session {
    /** Calls `changed` with the evaluation after every change, and `ticked` as time passes.
     * @param {Fabkit.Data} data
     * @param {Fabkit.Store} store
     * @param {{ board: SVGSVGElement, tray: HTMLElement }} elements
     * @param {Fabkit.Callbacks} callbacks */
    constructor(data, store, elements, { announce, changed, ticked }) {
      this.data = data;
      this.messages = data.messages;
      this.store = store;
      this.announce = announce;
      this.changed = changed;
      this.ticked = ticked;
      /** @type {Fabkit.Game} */
      this.game; // set by `open`
      /** @type {number | null} */
      this.selected = null;
      /** @type {number | null} */
      this.carried = null;
      this.isRaising = false;
      /** The pieces of the current hint, how much of it was shown, and what lay on the board then.
       * @type {{ pieces: number[], step: number, lying: string }} */
      this.hinted = { pieces: [], step: 0, lying: "" };
      /** The clock runs from the first touched piece until the solution. */
      this.isTimed = false;
      this.isSolved = false;
      this.lastTick = performance.now();
      this.lastSave = this.lastTick;
      this.board = new play.Board(elements.board);
      this.tray = new play.Tray(elements.tray);
      /** @type {Fabkit.PieceInput} */
      this.input = new play.PieceInput(this);
      setInterval(() => this.tick(), TICK_MS);
    }

    /** Opens a challenge as it was left.
     * @type {Fabkit.Session["open"]} */
    open(entry) {
      this.input.cancel();
      this.game = new play.Game(this.data, entry);
      if (!entry.solution && entry.status !== "impossible") {
        const answer = play.solve(this.game, this.game.given, SOLVE_MS);
        if (answer) Object.assign(entry, answer);
        else if (answer === null) entry.status = "impossible";
        if (answer) this.game.known.push(answer);
      }
      this.game.field = this.game.computeField(this.board.room);
      this.store.restore(this.game);
      this.selected = this.carried = null;
      this.hinted = { pieces: [], step: 0, lying: "" };
      this.isTimed = this.isSolved = false;
      this.lastTick = this.lastSave = performance.now();
      this.board.open(this.game);
      this.tray.open(this.game);
      for (const [piece, { button, group }] of this.tray.slots) {
        const onBoard = this.board.groups.get(piece);
        for (const [target, drawn] of /** @type {const} */ ([[button, group], [onBoard, onBoard]])) {
          this.input.attach(target, piece, drawn);
          target.addEventListener("focus", () => this.isRaising || this.select(piece));
        }
      }
      this.isSolved = this.update().solved;
    }

    /** Evaluates, shows and saves the state. */
    update() {
      const focused = /** @type {HTMLElement | null} */ (document.activeElement);
      const { game } = this;
      const verdict = game.evaluate();
      if (this.hinted.lying !== lyingKey(game)) this.hinted = { pieces: [], step: 0, lying: "" };
      this.tick();
      /** @type {Fabkit.Name} */
      const name = (piece) => this.name(piece, verdict);
      this.board.update(verdict, name, this.selected);
      this.tray.update(name, this.selected);
      for (const [piece, group] of this.board.groups) {
        group.classList.toggle("carried", piece === this.carried);
        for (const element of [group, this.tray.slots.get(piece)?.button]) {
          element?.classList.toggle("hinted", this.hinted.pieces.includes(piece));
        }
      }
      this.store.save(game, verdict.solved && game.fixed.size < game.placements.size);
      this.changed(verdict);
      // The focus follows a piece between board and tray.
      const gone = focused?.classList.contains("gone") && focused.dataset.piece;
      if (gone) this.focus(this.data.pieces.findIndex(({ id }) => id === gone));
      return verdict;
    }

    /** Moves the parking area to where there is more room, unless a piece is in the way. */
    refit() {
      const { game, board } = this;
      if (this.input.held) return; // a dragged piece keeps its scale
      const before = game.field;
      game.field = game.computeField(board.room);
      const isKept = [...game.placements].every(([piece, { orientation, at }]) => !at || game.isInField(piece, orientation, at));
      if (!isKept) game.field = before;
      else if (String(before) !== String(game.field)) board.frame();
    }

    /** Adds the time since the last tick while the page is visible; saves it now and then. */
    tick() {
      const now = performance.now();
      const passed = Math.round(Math.min(now - this.lastTick, 2 * TICK_MS));
      this.lastTick = now;
      if (!this.isTimed || this.isSolved || document.hidden) return;
      this.game.totals.ms += passed;
      if (now - this.lastSave > KEEP_MS) {
        this.lastSave = now;
        this.store.save(this.game, false);
      }
      this.ticked();
    }

    /** The accessible name of a piece, with its position.
     * @type {(piece: number, verdict: Fabkit.Verdict) => string} */
    name(piece, verdict) {
      if (this.game.fixed.has(piece)) return this.pieceMessage("piece_given", piece);
      if (!this.game.placements.get(piece).at) return this.pieceMessage("piece_tray", piece);
      const key = verdict.parked.has(piece) ? "piece_parked" : "piece_board";
      return [this.pieceMessage(key, piece), ...this.problems(piece, verdict)].join(", ");
    }

    /** Column and row of a piece's upper left corner, relative to the region's.
     * @type {(piece: number) => { column?: string, row?: string }} */
    place(piece) {
      const { game } = this;
      const { at } = game.placements.get(piece);
      if (!at) return {};
      const { box } = game.shape(piece);
      const { ux, vy, halves } = game.grid;
      const steps = [(box[0] + at[0] - game.box[0]) / ux, (game.box[3] - box[3] - at[1]) / vy];
      const format = new Intl.NumberFormat(this.data.language);
      const [column, row] = steps.map((step) => format.format(1 + Math.floor(step + 1e-9) / halves));
      return { column, row };
    }

    /** The problems of a placement, as messages.
     * @type {(piece: number, verdict: Fabkit.Verdict) => string[]} */
    problems(piece, { overlaps, outside, parked, blocking, against }) {
      const others = [...(overlaps.get(piece) ?? [])].map((other) => this.data.pieces[other].id);
      const messages = others.length ? [formatMessage(this.messages.overlaps, { others: others.join(", ") })] : [];
      if (blocking.has(piece)) messages.push(this.messages.blocking);
      else if (outside.has(piece) && !parked.has(piece)) messages.push(this.messages.outside);
      if (against.has(piece)) messages.push(this.messages.against);
      return messages;
    }

    /** Updates, and announces what was done and the problems of a piece.
     * @type {(text: string, piece?: number | null) => void} */
    report(text, piece = null) {
      const verdict = this.update();
      const parts = piece === null ? [] : this.problems(piece, verdict);
      this.announce(verdict.solved ? this.solvedMessage() : [text, ...parts].join(" · "));
      if (verdict.solved && !this.isSolved && !this.game.counts.shown) this.board.celebrate();
      this.isSolved = verdict.solved;
    }

    solvedMessage() {
      const { hints, shown } = this.game.counts;
      if (shown) return this.messages.solved_shown;
      return hints ? play.formatCount(this.messages, "solved_hints", hints) : this.messages.solved;
    }

    /** @type {(key: string, piece: number) => string} */
    pieceMessage(key, piece) {
      return formatMessage(this.messages[key], { piece: this.data.pieces[piece].id, ...this.place(piece) });
    }

    /** @type {Fabkit.Session["select"]} */
    select(piece) {
      this.isTimed = true;
      if (this.selected === piece) return;
      if (this.carried !== piece) this.release();
      this.selected = piece;
      this.update();
    }

    /** Ends carrying a piece with the keyboard; it stays where it is. */
    release() {
      if (this.carried !== null) this.game.endStep();
      this.carried = null;
    }

    /** Moves a piece: as a step, or as part of carrying it with the keyboard.
     * @type {(piece: number, placement: Fabkit.Placement) => void} */
    move(piece, placement) { this.game[this.carried === piece ? "adjust" : "place"](piece, placement); }

    /** @param {number} piece */
    focus(piece) {
      const lies = this.game.placements.get(piece).at;
      const element = lies ? this.board.groups.get(piece) : this.tray.slots.get(piece).button;
      element.focus({ preventScroll: true });
    }

    /** Draws a piece on top; the focus stays.
     * @param {number} piece */
    raise(piece) {
      const active = /** @type {HTMLElement | null} */ (document.activeElement);
      this.isRaising = true;
      this.board.raise(piece);
      if (active !== document.activeElement) active?.focus({ preventScroll: true });
      this.isRaising = false;
    }

    /** Places a dragged piece.
     * @type {Fabkit.Session["drop"]} */
    drop(piece, placement) {
      this.game.place(piece, placement);
      this.raise(piece);
      this.report(placement.at ? this.placedMessage(piece) : this.pieceMessage("say_tray", piece), piece);
      this.focus(piece);
    }

    /** @param {number} piece */
    placedMessage(piece) {
      return this.pieceMessage(this.game.evaluate().parked.has(piece) ? "say_parked" : "say_placed", piece);
    }

    /** @type {Fabkit.Session["turn"]} */
    turn(hand) { this.change("say_turned", (piece) => this.game.turned(piece, hand)); }

    flip() {
      const piece = this.selected;
      if (piece !== null && !this.game.canFlip(piece)) this.announce(this.pieceMessage("say_no_flip", piece));
      else this.change("say_flipped", (held) => this.game.flipped(held));
    }

    /** Undoes the rotation of the first tap, if any, and turns the piece over.
     * @type {Fabkit.Session["flipInstead"]} */
    flipInstead(before) {
      if (this.game.past.at(-1)?.placements === before) this.game.undo();
      this.flip();
    }

    /** Changes the orientation of the selected piece.
     * @type {(key: string, how: (piece: number) => Fabkit.Placement) => void} */
    change(key, how) {
      const piece = this.selected;
      if (piece === null) return this.announce(this.messages.say_select);
      if (this.input.held?.moving) return this.input.reorient(how);
      this.move(piece, how(piece));
      this.raise(piece);
      this.report(this.pieceMessage(key, piece), piece);
      return this.focus(piece);
    }

    /** Picks a piece up with the keyboard, or puts it down; not during a drag.
     * @type {Fabkit.Session["pickUp"]} */
    pickUp(piece) {
      if (this.input.held) return;
      if (this.carried === piece) return void this.putDown();
      const { game } = this;
      this.selected = this.carried = piece;
      game.beginStep();
      const { orientation, at } = game.placements.get(piece);
      if (!at) game.adjust(piece, { orientation, at: this.middle(piece, orientation) });
      this.raise(piece);
      this.report(this.pieceMessage("say_carried", piece));
      this.focus(piece);
    }

    /** The position of a piece in the middle of the board.
     * @type {(piece: number, orientation: number) => Fabkit.Point} */
    middle(piece, orientation) {
      const { box: [left, bottom, right, top], grid } = this.game;
      const [x, y] = this.game.shape(piece, orientation).middle;
      return this.game.clampToField(piece, orientation, grid.nearestStep((left + right) / 2 - x, (bottom + top) / 2 - y));
    }

    putDown() {
      const piece = /** @type {number} */ (this.carried);
      this.release();
      this.report(this.placedMessage(piece), piece);
    }

    /** Moves the carried piece by one step.
     * @type {Fabkit.Session["step"]} */
    step(right, up) {
      const { game } = this;
      const carried = /** @type {number} */ (this.carried);
      const { orientation, at } = game.placements.get(carried);
      const next = game.grid.neighbour(/** @type {Fabkit.Point} */ (at), right, up);
      if (!game.isInField(carried, orientation, next)) return this.announce(this.pieceMessage("say_edge", carried));
      game.adjust(carried, { orientation, at: next });
      return this.report(this.pieceMessage("say_moved", carried), carried);
    }

    toTray() {
      if (this.input.held) return this.input.cancel();
      const piece = this.selected;
      if (piece === null) return this.announce(this.messages.say_select);
      this.move(piece, this.game.inTray(piece));
      this.release();
      this.report(this.pieceMessage("say_tray", piece));
      return this.focus(piece);
    }

    /** Gives a hint in steps: names misplaced pieces, then removes them; or names the next piece, then
     * rotates it, then places it. */
    hint() {
      this.input.cancel();
      const { game } = this;
      const onPiece = Boolean(/** @type {HTMLElement | null} */ (document.activeElement)?.dataset.piece);
      const next = play.nextHint(game);
      if (!next) return this.announce(game.entry.solution ? this.solvedMessage() : this.messages.say_no_hint);
      this.release();
      const { pieces, placement } = next;
      const isSameHint = String(this.hinted.pieces) === String(pieces);
      this.hinted = { pieces, step: isSameHint ? this.hinted.step + 1 : 1, lying: lyingKey(game) };
      const [piece] = pieces;
      this.selected = piece;
      if (this.hinted.step === 1) {
        game.totals.hints += 1;
        const wrong = next.isOnlyElsewhere ? "say_otherwise" : "say_elsewhere";
        this.report(placement ? this.pieceMessage("say_next", piece) : this.piecesMessage(wrong, pieces));
      } else if (this.hinted.step === 2 && placement && game.count(piece) > 1) {
        const isRight = game.placements.get(piece).orientation === placement.orientation;
        game.place(piece, game.reoriented(piece, placement.orientation));
        this.hinted.lying = lyingKey(game); // it may be parked
        this.report(this.pieceMessage(isRight ? "say_hint_right" : "say_hint_way", piece));
      } else {
        game.beginStep();
        play.applyHint(game, next);
        game.endStep();
        this.raise(piece);
        this.report(placement ? this.pieceMessage("say_hint", piece) : this.piecesMessage("say_taken", pieces));
      }
      if (onPiece) this.focus(piece);
    }

    /** A message about one or several pieces.
     * @type {(key: string, pieces: number[]) => string} */
    piecesMessage(key, pieces) {
      const ids = pieces.map((piece) => this.data.pieces[piece].id);
      return formatMessage(this.messages[`${key}_${ids.length === 1 ? "one" : "many"}`], { pieces: ids.join(", ") });
    }

    /** Shows the solution; the challenge then does not count as solved. */
    solve() {
      this.input.cancel();
      this.release();
      const { game } = this;
      game.beginStep();
      for (let next = play.nextHint(game); next; next = play.nextHint(game)) play.applyHint(game, next);
      game.endStep();
      this.report("");
    }

    /** Loads the placements of a link in one step. A solution loaded this way does not count.
     * @type {Fabkit.Session["loadPlacements"]} */
    loadPlacements(pieces) {
      const { game } = this;
      game.beginStep();
      game.placements = game.start();
      play.restorePlacements(game, pieces);
      game.endStep();
      if (game.evaluate().solved) game.totals.shown += 1;
      this.report(this.messages.say_linked);
    }

    undo() { this.stepHistory("undo", "say_undone"); }
    redo() { this.stepHistory("redo", "say_redone"); }
    /** @type {(which: "undo" | "redo", key: string) => void} */
    stepHistory(which, key) {
      if (this.input.held) return;
      this.carried = null;
      if (this.game[which]()) this.report(this.messages[key]);
      else this.update();
    }

    reset() {
      this.input.cancel();
      this.carried = null;
      this.game.reset();
      this.report(this.messages.say_reset);
    }
  }

  /** What lies on the board, as a text to compare.
   * @param {Fabkit.Game} game */
  const lyingKey = (game) =>
    [...game.placements].flatMap(([piece, { orientation, at }]) => (at ? [`${piece} ${orientation} ${at}`] : [])).join(";");

  /** Formats moves and time. */
  play.score = (messages, [moves, ms]) => {
    const seconds = Math.floor(ms / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    return `${play.formatCount(messages, "moves", moves)} · ${time}`;
  };

  Object.assign(play, /** @satisfies {Partial<Fabkit.Play>} */ ({ Session }));
})();
