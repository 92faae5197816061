// Pointer and keyboard input: drag to move a piece, tap to rotate it; keys can do the same.
import { drawPiece, svg } from "./play-draw.js";
import { UNIT } from "./play-grid.js";

/** @import { Session } from "./play-session.js" */

const STILL_PX = 6; // less movement than this is a tap
const LIFT_PX = 44; // a touched piece floats above the finger that would hide it
const TWICE_MS = 280; // two taps within this time turn the piece over
const NEAR_PX = 24; // a tap so near to where a piece was dropped is for that piece,
const SOON_MS = 1000; // so long after the drop
const BRINK_PX = 36; // dragging this near to the window's edge scrolls the page
/** Wheel distance for one rotation, and the pause that ends a wheel gesture. */
const [NOTCH_PX, PAUSE_MS] = [60, 250];

/** Turns what pointers do into actions of the session, whose `hand` says what is held; one pointer at
 * a time. */
export class PieceInput {
  /** @param {Session} session */
  constructor(session) {
    this.session = session;
    /** @type {{ piece: number, time: number, before: Fabkit.Placements } | null} */
    this.lastTap = null;
    /** @type {{ piece: number, x: number, y: number, time: number } | null} */
    this.lastDrop = null;
    /** The piece of a wheel gesture, its distance so far, and the time of its last event.
     * @type {{ piece: number | null, distance: number, time: number }} */
    this.wheel = { piece: null, distance: 0, time: -Infinity };
    const viewBox = `0 0 ${UNIT} ${UNIT}`;
    this.drawing = svg("g");
    this.floating = svg("svg", { class: "floating", viewBox, "aria-hidden": "true" }, this.drawing);
    document.body.append(this.floating);
    document.addEventListener("pointerdown", (event) => this.down(event));
    document.addEventListener("pointermove", (event) => this.move(event));
    document.addEventListener("pointerup", (event) => this.up(event));
    document.addEventListener("pointercancel", (event) => this.cancel(event));
    document.addEventListener("focusin", ({ target }) => {
      const piece = session.pieceOf(target);
      if (piece !== null) session.select(piece);
    });
    // A click without a pointer comes from a keyboard or a screen reader.
    document.addEventListener("click", ({ detail, target }) => {
      const piece = session.pieceOf(target);
      if (piece !== null && !detail) session.pickUp(piece);
    });
    document.addEventListener("contextmenu", (event) => {
      if (this.pieceAt(event) !== null) event.preventDefault();
    });
    document.addEventListener("mousedown", (event) => {
      if (event.button === 2) this.rotate(event, this.pieceAt(event), "right");
    });
    document.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
  }

  /** The piece that a pointer means: the held one, or the movable one under it; null for none.
   * @param {MouseEvent} event */
  pieceAt({ target, clientX: x, clientY: y, timeStamp }) {
    const { session, lastDrop } = this;
    const { piece: selected, grip } = session.hand;
    if (selected === null || grip) return grip ? selected : session.pieceOf(target);
    const under = session.pieceOf(target);
    // A dropped piece snaps into place, perhaps away from the pointer.
    const wait = under === null ? SOON_MS : TWICE_MS;
    const isSoon = lastDrop?.piece === selected && timeStamp - lastDrop.time < wait;
    if (isSoon && Math.hypot(x - lastDrop.x, y - lastDrop.y) < NEAR_PX) return selected;
    // And one that is rotated may turn away from it.
    return under ?? (session.board.surrounds(selected, target, x, y) ? selected : null);
  }

  /** Rotates a piece, also while it is dragged.
   * @type {(event: MouseEvent, piece: number | null, side: Fabkit.Side) => void} */
  rotate(event, piece, side) {
    if (piece === null) return;
    if (!this.session.hand.grip) this.session.select(piece);
    else this.lift(event);
    this.session.turn(side);
  }

  /** Rotates a piece with the wheel. A gesture that began as scrolling goes on as that.
   * @param {WheelEvent} event */
  onWheel(event) {
    if (event.timeStamp - this.wheel.time > PAUSE_MS) {
      this.wheel = { piece: this.pieceAt(event), distance: 0, time: 0 };
    }
    const { wheel } = this;
    wheel.time = event.timeStamp;
    if (wheel.piece === null || event.ctrlKey) return;
    event.preventDefault();
    wheel.distance += event.deltaY * (event.deltaMode ? NOTCH_PX : 1);
    if (Math.abs(wheel.distance) < NOTCH_PX) return;
    this.rotate(event, wheel.piece, wheel.distance > 0 ? "right" : "left");
    wheel.distance = 0;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const piece = this.pieceAt(event);
    if (event.button !== 0 || piece === null || this.session.hand.grip) return;
    const { element, drawing } = this.session.parts(piece);
    element.setPointerCapture(event.pointerId);
    const inverse = /** @type {DOMMatrix} */ (drawing.getScreenCTM()).inverse();
    const grab = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
    this.session.hold(piece, {
      id: event.pointerId,
      from: [event.clientX, event.clientY],
      now: [event.clientX, event.clientY],
      lift: event.pointerType === "touch" ? LIFT_PX : 0,
      grab: [grab.x, grab.y],
    });
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.session.hand.grip?.id !== event.pointerId) return;
    if (event.buttons) this.drag(event);
    else this.cancel(event); // it was released outside the window
  }

  /** Drags the piece once the pointer has moved too far for a tap.
   * @param {PointerEvent} event */
  drag(event) {
    const { state, grip } = /** @type {Fabkit.Held} */ (this.session.hand);
    const distance = Math.hypot(event.clientX - grip.from[0], event.clientY - grip.from[1]);
    if (state === "held" && distance < STILL_PX) return;
    this.lift(event);
    if (event.clientY < BRINK_PX) window.scrollBy(0, -12);
    if (event.clientY > window.innerHeight - BRINK_PX) window.scrollBy(0, 12);
    this.showDragged();
  }

  /** Starts dragging, unless that has begun, and notes where the pointer is.
   * @param {MouseEvent} event */
  lift({ clientX, clientY }) {
    const { state, grip } = /** @type {Fabkit.Held} */ (this.session.hand);
    grip.now = [clientX, clientY];
    if (state === "held") this.session.lift(grip);
  }

  /** Shows what the hand does: the dragged piece, or none. */
  show() {
    const { hand, game, board } = this.session;
    const { state, piece, grip } = hand;
    const isDragged = state === "carried" && grip !== null;
    document.documentElement.classList.toggle("dragging", isDragged);
    document.documentElement.classList.toggle("carrying", state === "carried" && !grip);
    if (isDragged)
      return drawPiece(this.drawing, game, piece, game.placements.get(piece).orientation);
    this.drawing.replaceChildren();
    board.preview(null);
  }

  /** Shows the piece at the pointer, at the board's scale, and previews its landing. */
  showDragged() {
    const [x, y] = this.dragOrigin();
    const size = `${this.session.board.place.scale * UNIT}px`;
    const transform = `translate(${x}px, ${y}px)`;
    Object.assign(this.floating.style, { width: size, height: size, transform });
    this.session.board.preview(this.session.hand.piece, this.dropPlacement());
  }

  /** The screen position of the dragged piece's origin. */
  dragOrigin() {
    const { now, grab, lift } = /** @type {Fabkit.Held} */ (this.session.hand).grip;
    const { scale } = this.session.board.place;
    return [now[0] - grab[0] * scale, now[1] - lift - grab[1] * scale];
  }

  /** The placement if the piece were dropped now: on the board or in the tray.
   * @returns {Fabkit.Placement} */
  dropPlacement() {
    const { board, game, hand } = this.session;
    const { piece } = /** @type {Fabkit.Held} */ (hand);
    const { orientation } = game.placements.get(piece);
    const [x, y] = this.dragOrigin();
    const { scale, left, top } = board.place;
    const [mx, my] = game.grid.toDrawing(...game.shape(piece).middle);
    if (!board.holds(x + mx * scale, y + my * scale)) return { orientation, at: null };
    const point = game.grid.fromDrawing((x - left) / scale, (y - top) / scale);
    return {
      orientation,
      at: game.clampToField(piece, orientation, game.grid.nearestStep(...point)),
    };
  }

  /** Rotates the dragged piece, or turns it over, about the pointer.
   * @type {(turn: (piece: number) => Fabkit.Placement) => void} */
  reorient(turn) {
    const { game, hand } = this.session;
    const { piece, grip } = /** @type {Fabkit.Held} */ (hand);
    const before = game.grid.toDrawing(...game.shape(piece).middle);
    game.adjust(piece, {
      orientation: turn(piece).orientation,
      at: game.placements.get(piece).at,
    });
    const after = game.grid.toDrawing(...game.shape(piece).middle);
    grip.grab = [grip.grab[0] - before[0] + after[0], grip.grab[1] - before[1] + after[1]];
    this.show();
    this.showDragged();
  }

  /** @param {PointerEvent} event */
  up(event) {
    const { session } = this;
    if (session.hand.grip?.id !== event.pointerId) return;
    this.drag(event); // a quick drag may end far from its last move
    const { state, piece } = /** @type {Fabkit.Held} */ (session.hand);
    if (state === "held") {
      session.release();
      return this.tap(piece, event.timeStamp);
    }
    this.lastTap = null;
    this.lastDrop = { piece, x: event.clientX, y: event.clientY, time: event.timeStamp };
    session.drop(this.dropPlacement());
  }

  /** Rotates a tapped piece; a second tap turns it over instead.
   * @param {number} piece
   * @param {number} time */
  tap(piece, time) {
    const { session, lastTap } = this;
    const twice = lastTap?.piece === piece && time - lastTap.time < TWICE_MS;
    this.lastTap = twice ? null : { piece, time, before: session.game.placements };
    if (twice && session.game.canFlip(piece)) session.flipInstead(lastTap.before);
    else session.turn("right");
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    if (this.session.hand.grip?.id === event.pointerId) this.session.cancel();
  }
}

/** @type {Record<string, Fabkit.Point>} */
export const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** Handles keys pressed in the game or without a focused element.
 * @type {(element: HTMLElement, session: Session) => void} */
export function bindKeys(element, session) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    if (target !== document.body && !element.contains(target)) return;
    if (event.altKey || target.matches("select, textarea, input:not([type=checkbox])")) return;
    if (handleKey(event, session)) event.preventDefault();
  });
}

/** Handles a key; returns whether it did anything.
 * @type {(event: KeyboardEvent, session: Session) => boolean} */
function handleKey(event, session) {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === "y" || (key === "z" && event.shiftKey)) session.redo();
    else if (key === "z") session.undo();
    return key === "y" || key === "z";
  }
  const arrow = ARROWS[event.key];
  if (arrow) return session.step(...arrow);
  const group = /** @type {Element} */ (event.target).closest?.("g[role=button]");
  if (group && (event.key === "Enter" || event.key === " ")) {
    // Key repeat would put the piece down again.
    if (!event.repeat) session.pickUp(/** @type {number} */ (session.hand.piece));
    return true;
  }
  const action = /** @type {Record<string, () => void>} */ ({
    r: () => session.turn(event.shiftKey ? "left" : "right"),
    f: () => session.flip(),
    h: () => session.hint(),
    escape: () => session.toTray(),
  })[key];
  action?.();
  return Boolean(action);
}
