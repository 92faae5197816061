// The session: one open challenge with its board and tray, and all actions of the player.
import { Board, Tray } from "./play-board.js";
import { formatCount, formatMessage } from "./play-draw.js";
import { applyHint, Game, nextHint, searchFrom } from "./play-game.js";
import { PieceInput } from "./play-input.js";
import { find } from "./play-settings.js";
import { solve } from "./play-solve.js";
import { restorePlacements } from "./play-store.js";

/** @import { Store } from "./play-store.js" */

const TICK_MS = 500; // interval of the clock
const SOLVE_MS = 500; // so long a solution is searched that is not stored
const KEEP_MS = 10000; // interval of saving the time while nothing else happens
const SLICE_MS = 6; // a search for a dead end pauses after so long,
const WATCH_MS = 4000; // and ends after so long
/** @type {(run: () => void) => void} */
const whenIdle = (run) =>
  void ("requestIdleCallback" in window
    ? requestIdleCallback(run, { timeout: 500 })
    : setTimeout(run, 50));

/** @type {Fabkit.Hand} */
const IDLE = { state: "idle", piece: null, grip: null };

export class Session {
  /** Calls `changed` with the evaluation after every change, and `ticked` as time passes.
   * @param {Fabkit.Data} data
   * @param {Store} store
   * @param {{ announce: (text: string) => void, changed: (verdict: Fabkit.Verdict) => void,
   *   ticked: () => void }} callbacks */
  constructor(data, store, { announce, changed, ticked }) {
    this.data = data;
    this.messages = data.messages;
    this.store = store;
    this.announce = announce;
    this.changed = changed;
    this.ticked = ticked;
    /** @type {Game} */
    this.game; // set by `open`
    /** What the player does with the selected piece.
     * @type {Fabkit.Hand} */
    this.hand = IDLE;
    this.isRaising = false;
    /** The pieces of the current hint, how much of it was shown, and what lay on the board then.
     * @type {{ pieces: number[], step: number, lying: string }} */
    this.hinted = { pieces: [], step: 0, lying: "" };
    /** The clock runs from the first touched piece until the solution. */
    this.isTimed = false;
    this.isSolved = false;
    this.isSaved = true;
    this.lastTick = performance.now();
    this.lastSave = this.lastTick;
    /** Whether dead ends are told, what lay on the board at the last search for one, and at the last one found.
     * @type {{ isOn: boolean, searched: string, found: string | null }} */
    this.deadEnd = { isOn: false, searched: "", found: null };
    this.board = new Board(find("board"));
    this.tray = new Tray(find("tray"));
    /** @type {PieceInput} */
    this.input = new PieceInput(this);
    setInterval(() => this.tick(), TICK_MS);
    window.addEventListener("pagehide", () => this.save());
    document.addEventListener("visibilitychange", () => document.hidden && this.save());
  }

  /** Opens a challenge as it was left.
   * @type {(entry: Fabkit.Entry) => void} */
  open(entry) {
    if (this.game) this.release();
    this.save();
    this.game = new Game(this.data, entry);
    if (!entry.solution && entry.status !== "impossible") {
      const answer = solve(this.game, this.game.given, SOLVE_MS);
      if (answer) Object.assign(entry, answer);
      else if (answer === null) entry.status = "impossible";
      if (answer) this.game.known.push(answer);
    }
    this.game.field = this.game.computeField(...this.board.room);
    this.store.restore(this.game);
    this.hand = IDLE;
    this.hinted = { pieces: [], step: 0, lying: "" };
    this.deadEnd = { isOn: this.deadEnd.isOn, searched: "", found: null };
    this.isTimed = this.isSolved = false;
    this.lastTick = this.lastSave = performance.now();
    this.board.open(this.game);
    this.tray.open(this.game);
    this.isSolved = this.update().solved;
    this.save();
  }

  /** Evaluates and shows the state; it is saved when nothing else is to be done. */
  update() {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const { game } = this;
    const verdict = game.evaluate();
    const lying = lyingKey(game);
    if (this.hinted.lying !== lying) this.hinted = { pieces: [], step: 0, lying: "" };
    this.tick();
    const name = (/** @type {number} */ piece) => this.name(piece, verdict);
    this.board.update(verdict, name, this.hand.piece);
    this.tray.update(name, this.hand.piece);
    for (const [piece, group] of this.board.groups) {
      for (const element of [group, this.tray.slots.get(piece)?.button]) {
        element?.classList.toggle("hinted", this.hinted.pieces.includes(piece));
      }
    }
    this.board.element.classList.toggle("stuck", this.deadEnd.found === lying);
    this.saveSoon();
    if (verdict.solved) this.save(); // it counts from now on
    if (this.hand.state === "idle") this.watch(lying);
    this.changed(verdict);
    // The focus follows a piece between board and tray.
    const gone = focused?.classList.contains("gone") && focused.dataset.piece;
    if (gone) this.focus(this.data.pieces.findIndex(({ id }) => id === gone));
    return verdict;
  }

  /** Saves when nothing else is to be done. */
  saveSoon() {
    this.isSaved = false;
    whenIdle(() => this.save());
  }

  /** Saves what has changed since the last time. */
  save() {
    if (this.isSaved) return;
    this.isSaved = true;
    this.lastSave = performance.now();
    const { game } = this;
    this.store.save(game, game.fixed.size < game.placements.size && game.evaluate().solved);
    this.ticked();
  }

  /** Switches on or off that dead ends are told.
   * @type {(isOn: boolean) => void} */
  tellDeadEnds(isOn) {
    this.deadEnd = { isOn, searched: "", found: null };
    if (this.game) this.update();
  }

  /** Searches in slices whether what lies on the board can be completed, and tells when it cannot.
   * @param {string} lying */
  watch(lying) {
    const { game, deadEnd } = this;
    if (!deadEnd.isOn || deadEnd.searched === lying) return;
    deadEnd.searched = lying;
    const end = performance.now() + WATCH_MS;
    /** @type {ReturnType<typeof searchFrom> | null} */
    let search = null;
    const look = () => {
      if (deadEnd !== this.deadEnd || deadEnd.searched !== lying || game !== this.game) return;
      if (lyingKey(game) !== lying) return void (deadEnd.searched = ""); // the keyboard carries a piece on
      search ??= searchFrom(game);
      const answer = search(SLICE_MS);
      if (answer === undefined && performance.now() < end) return whenIdle(look);
      if (answer !== null) return;
      deadEnd.found = lying;
      this.report(this.messages.say_dead_end);
    };
    whenIdle(look);
  }

  /** Moves the parking area to where there is more room, unless a piece is in the way. */
  refit() {
    const { game, board } = this;
    if (this.hand.grip) return; // a dragged piece keeps its scale
    const before = game.field;
    game.field = game.computeField(...board.room);
    const isKept = [...game.placements].every(
      ([piece, { orientation, at }]) => !at || game.isInField(piece, orientation, at),
    );
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
    if (now - this.lastSave > KEEP_MS) this.saveSoon();
    this.ticked();
  }

  /** The accessible name of a piece, with its position.
   * @type {(piece: number, verdict: Fabkit.Verdict) => string} */
  name(piece, verdict) {
    const { hue, label } = this.data.pieces[piece];
    const isOnBoard = this.game.placements.get(piece).at !== null;
    const state = this.game.fixed.has(piece)
      ? "given"
      : !isOnBoard
        ? "tray"
        : verdict.parked.has(piece)
          ? "parked"
          : "board";
    const values = { colour: this.messages[`hue_${hue}`], piece: label, ...this.place(piece) };
    const problems = state === "given" ? [] : this.problems(piece, verdict);
    return [formatMessage(this.messages[`piece_${state}`], values), ...problems].join(", ");
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
    const messages = others.length
      ? [formatMessage(this.messages.overlaps, { others: others.join(", ") })]
      : [];
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
    return hints ? formatCount(this.messages, "solved_hints", hints) : this.messages.solved;
  }

  /** @type {(key: string, piece: number) => string} */
  pieceMessage(key, piece) {
    return formatMessage(this.messages[key], {
      piece: this.data.pieces[piece].id,
      ...this.place(piece),
    });
  }

  /** Changes the state of the hand, and shows it.
   * @param {Fabkit.Hand} hand */
  become(hand) {
    this.hand = hand;
    this.input.show();
  }

  /** Selects a piece, unless a pointer holds one; the keyboard puts down what it carries.
   * @type {(piece: number) => void} */
  select(piece) {
    this.tick(); // what has passed until the first touch does not count
    this.isTimed = true;
    if (this.isRaising || this.hand.grip || this.hand.piece === piece) return;
    this.release(piece);
    this.update();
  }

  /** Notes that a pointer went down on a piece.
   * @type {(piece: number, grip: Fabkit.Grip) => void} */
  hold(piece, grip) {
    if (this.hand.state === "carried") this.putDown();
    this.select(piece);
    this.become({ state: "held", piece, grip });
  }

  /** Lifts the selected piece, with a pointer or with the keyboard: a step that ends with `drop`.
   * @type {(grip: Fabkit.Grip | null) => void} */
  lift(grip) {
    const piece = /** @type {number} */ (this.hand.piece);
    this.game.beginStep();
    this.become({ state: "carried", piece, grip, before: this.game.placements.get(piece) });
  }

  /** Ends holding and carrying: what a pointer dragged is back where it was, what the keyboard carried
   * stays. Another piece may be selected then.
   * @type {(selected?: number | null) => void} */
  release(selected = this.hand.piece) {
    const { hand, game } = this;
    if (hand.state === "carried") {
      if (hand.grip) game.adjust(hand.piece, hand.before);
      game.endStep();
    }
    this.become({ state: "idle", piece: selected, grip: null });
  }

  /** Breaks off what a pointer does; returns whether it did anything. */
  cancel() {
    if (!this.hand.grip) return false;
    this.release();
    this.update();
    return true;
  }

  /** Places the selected piece, and ends carrying it.
   * @type {(placement: Fabkit.Placement) => void} */
  drop(placement) {
    const { state, piece } = /** @type {Fabkit.Held} */ (this.hand);
    if (state !== "carried") this.game.beginStep();
    this.game.adjust(piece, placement);
    this.game.endStep();
    this.become({ state: "idle", piece, grip: null });
    this.raise(piece);
    this.report(
      placement.at ? this.placedMessage(piece) : this.pieceMessage("say_tray", piece),
      piece,
    );
    this.focus(piece);
  }

  /** The movable piece of an element on the board or in the tray, or null.
   * @type {(target: EventTarget | null) => number | null} */
  pieceOf(target) {
    const element = /** @type {HTMLElement | null} */ (
      /** @type {Element} */ (target).closest?.("[data-piece]")
    );
    const piece = this.data.pieces.findIndex(({ id }) => id === element?.dataset.piece);
    return this.game.placements.has(piece) && !this.game.fixed.has(piece) ? piece : null;
  }

  /** The focusable element of a piece, and its drawing.
   * @type {(piece: number) => { element: HTMLElement | SVGElement; drawing: SVGGElement }} */
  parts(piece) {
    const onBoard = this.board.groups.get(piece);
    if (this.game.placements.get(piece).at) return { element: onBoard, drawing: onBoard };
    const { button, group } = this.tray.slots.get(piece);
    return { element: button, drawing: group };
  }

  /** @param {number} piece */
  focus(piece) {
    this.parts(piece).element.focus({ preventScroll: true });
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

  /** @param {number} piece */
  placedMessage(piece) {
    return this.pieceMessage(
      this.game.evaluate().parked.has(piece) ? "say_parked" : "say_placed",
      piece,
    );
  }

  /** @type {(hand: Fabkit.Side) => void} */
  turn(hand) {
    this.change("say_turned", (piece) => this.game.turned(piece, hand));
  }

  flip() {
    const { piece } = this.hand;
    if (piece !== null && !this.game.canFlip(piece))
      this.announce(this.pieceMessage("say_no_flip", piece));
    else this.change("say_flipped", (held) => this.game.flipped(held));
  }

  /** Undoes the rotation of the first tap, if any, and turns the piece over.
   * @type {(before: Fabkit.Placements) => void} */
  flipInstead(before) {
    if (this.game.past.at(-1)?.placements === before) this.game.undo();
    this.flip();
  }

  /** Changes the orientation of the selected piece.
   * @type {(key: string, how: (piece: number) => Fabkit.Placement) => void} */
  change(key, how) {
    const { state, piece, grip } = this.hand;
    if (piece === null) return this.announce(this.messages.say_select);
    if (state === "carried" && grip) return this.input.reorient(how);
    this.game[state === "carried" ? "adjust" : "place"](piece, how(piece));
    this.raise(piece);
    this.report(this.pieceMessage(key, piece), piece);
    return this.focus(piece);
  }

  /** Picks a piece up with the keyboard, or puts it down; not during a drag.
   * @type {(piece: number) => void} */
  pickUp(piece) {
    const { game, hand } = this;
    if (hand.grip) return;
    if (hand.state === "carried" && hand.piece === piece) return this.putDown();
    this.release(piece);
    this.lift(null);
    const { orientation, at } = game.placements.get(piece);
    if (!at) game.adjust(piece, { orientation, at: this.middle(piece, orientation) });
    this.raise(piece);
    this.report(this.pieceMessage("say_carried", piece));
    this.focus(piece);
  }

  /** The position of a piece in the middle of the board.
   * @type {(piece: number, orientation: number) => Fabkit.Point} */
  middle(piece, orientation) {
    const { box, grid } = this.game;
    const [left, bottom, right, top] = box;
    const [x, y] = this.game.shape(piece, orientation).middle;
    return this.game.clampToField(
      piece,
      orientation,
      grid.nearestStep((left + right) / 2 - x, (bottom + top) / 2 - y),
    );
  }

  /** Puts the piece that the keyboard carries down where it is. */
  putDown() {
    this.drop(this.game.placements.get(/** @type {number} */ (this.hand.piece)));
  }

  /** Moves the piece that the keyboard carries by one step; returns whether it carries one.
   * @type {(right: number, up: number) => boolean} */
  step(right, up) {
    const { game } = this;
    const { state, piece, grip } = this.hand;
    if (state !== "carried" || grip) return false;
    const { orientation, at } = game.placements.get(piece);
    const next = game.grid.neighbour(/** @type {Fabkit.Point} */ (at), right, up);
    const isInField = game.isInField(piece, orientation, next);
    if (isInField) game.adjust(piece, { orientation, at: next });
    if (isInField) this.report(this.pieceMessage("say_moved", piece), piece);
    else this.announce(this.pieceMessage("say_edge", piece));
    return true;
  }

  toTray() {
    if (this.cancel()) return;
    const { piece } = this.hand;
    if (piece === null) this.announce(this.messages.say_select);
    else this.drop(this.game.inTray(piece));
  }

  /** Gives a hint in steps: names misplaced pieces, then removes them; or names the next piece, then
   * rotates it, then places it. */
  hint() {
    this.release();
    const { game } = this;
    const onPiece = Boolean(
      /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.piece,
    );
    const next = nextHint(game);
    if (!next) return this.report(this.messages[next === null ? "say_no_hint" : "say_late"]);
    const { pieces, placement } = next;
    const isSameHint = String(this.hinted.pieces) === String(pieces);
    const [piece] = pieces;
    this.hinted = { pieces, step: isSameHint ? this.hinted.step + 1 : 1, lying: lyingKey(game) };
    this.release(piece);
    const isTurned = placement && placement.orientation !== game.placements.get(piece).orientation;
    if (this.hinted.step === 1) {
      game.totals.hints += 1;
      this.report(
        placement
          ? this.pieceMessage("say_next", piece)
          : this.piecesMessage("say_elsewhere", pieces),
      );
    } else if (this.hinted.step === 2 && isTurned) {
      game.place(piece, game.reoriented(piece, placement.orientation));
      this.hinted.lying = lyingKey(game); // it may be parked
      this.report(this.pieceMessage("say_hint_way", piece));
    } else {
      game.beginStep();
      applyHint(game, next);
      game.endStep();
      this.raise(piece);
      this.report(
        placement ? this.pieceMessage("say_hint", piece) : this.piecesMessage("say_taken", pieces),
      );
    }
    if (onPiece) this.focus(piece);
  }

  /** A message about one or several pieces.
   * @type {(key: string, pieces: number[]) => string} */
  piecesMessage(key, pieces) {
    const ids = pieces.map((piece) => this.data.pieces[piece].id);
    return formatMessage(this.messages[`${key}_${ids.length === 1 ? "one" : "many"}`], {
      pieces: ids.join(", "),
    });
  }

  /** Shows the solution; the challenge then does not count as solved. */
  solve() {
    this.release();
    const { game } = this;
    game.beginStep();
    for (const piece of game.entry.pieces)
      if (!game.fixed.has(piece)) game.adjust(piece, game.inTray(piece));
    for (let next = nextHint(game); next; next = nextHint(game)) applyHint(game, next);
    game.endStep();
    this.report("");
  }

  /** Loads the placements of a link in one step. A solution loaded this way does not count.
   * @type {(pieces: Fabkit.Stored[]) => void} */
  loadPlacements(pieces) {
    this.release();
    const { game } = this;
    game.beginStep();
    game.placements = game.start();
    restorePlacements(game, pieces);
    game.endStep();
    if (game.evaluate().solved) game.totals.shown += 1;
    this.report(this.messages.say_linked);
  }

  undo() {
    this.stepHistory("undo", "say_undone");
  }
  redo() {
    this.stepHistory("redo", "say_redone");
  }
  /** @type {(which: "undo" | "redo", key: string) => void} */
  stepHistory(which, key) {
    if (this.hand.grip) return;
    this.release();
    if (this.game[which]()) this.report(this.messages[key]);
    else this.update();
  }

  reset() {
    this.release();
    this.game.reset();
    this.report(this.messages.say_reset);
  }
}

/** What lies on the board, as a text to compare.
 * @param {Game} game */
const lyingKey = (game) =>
  [...game.placements]
    .flatMap(([piece, { orientation, at }]) => (at ? [`${piece} ${orientation} ${at}`] : []))
    .join(";");
