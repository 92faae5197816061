// @ts-check
"use strict";
// Pointer and keyboard input: drag to move a piece, tap to rotate it; keys can do the same.
(() => {
  const play = (window.fabkitPlay ??= /** @type {Fabkit.Play} */ ({}));
  const { UNIT, svg } = play;

  const STILL_PX = 6; // less movement than this is a tap
  const LIFT_PX = 44; // a touched piece floats above the finger that would hide it
  const TWICE_MS = 280; // two taps within this time turn the piece over
  const BRINK_PX = 36; // dragging this near to the window's edge scrolls the page
  /** Wheel distance for one rotation, and the pause that ends a wheel gesture. */
  const [NOTCH_PX, PAUSE_MS] = [60, 250];

  /** Tracks one pointer at a time. */
  class PieceInput {
    /** @param {Fabkit.Session} session */
    constructor(session) {
      this.session = session;
      /** @type {Fabkit.Held | null} */
      this.held = null;
      /** @type {{ piece: number, time: number, before: Fabkit.Placements } | null} */
      this.lastTap = null;
      /** The piece of a wheel gesture, its distance so far, and the time of its last event.
       * @type {{ piece: number | null, distance: number, time: number }} */
      this.wheel = { piece: null, distance: 0, time: -Infinity };
      const viewBox = `0 0 ${UNIT} ${UNIT}`;
      this.drawing = svg("g");
      this.floating = svg("svg", { class: "floating", viewBox, "aria-hidden": "true" }, this.drawing);
      document.body.append(this.floating);
      document.addEventListener("pointermove", (event) => this.move(event));
      document.addEventListener("pointerup", (event) => this.up(event));
      document.addEventListener("pointercancel", (event) => this.cancel(event));
      document.addEventListener("contextmenu", (event) => {
        if (this.pieceAt(event) !== null) event.preventDefault();
      });
      document.addEventListener("mousedown", (event) => {
        if (event.button === 2) this.rotate(event, this.pieceAt(event), "right");
      });
      document.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    }

    /** The dragged piece, or the movable one under the pointer; null for none.
     * @param {MouseEvent} event */
    pieceAt({ target, clientX: x, clientY: y }) {
      const { board, data, game, selected } = this.session;
      if (this.held) return this.held.piece;
      const element = /** @type {Element} */ (target);
      const id = /** @type {HTMLElement | null} */ (element.closest?.("#play-game [data-piece]"))?.dataset.piece;
      const piece = data.pieces.findIndex((known) => known.id === id);
      if (piece >= 0) return game.fixed.has(piece) ? null : piece;
      // A piece that was rotated away from the pointer still counts.
      if (selected === null || !game.placements.get(selected).at) return null;
      const box = board.groups.get(selected).getBoundingClientRect();
      const isIn = x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
      return isIn && board.element.contains(element) ? selected : null;
    }

    /** Rotates a piece, also while it is dragged.
     * @type {(event: MouseEvent, piece: number | null, side: Fabkit.Side) => void} */
    rotate(event, piece, side) {
      if (piece === null) return;
      if (!this.held) this.session.select(piece);
      else if (!this.held.moving) this.lift(event);
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

    /** Makes a piece draggable by an element.
     * @type {Fabkit.PieceInput["attach"]} */
    attach(element, piece, group) {
      element.addEventListener("pointerdown", (event) =>
        this.down(/** @type {PointerEvent} */ (event), element, piece, group));
      // A click without a pointer comes from a keyboard or a screen reader.
      element.addEventListener("click", (event) =>
        /** @type {MouseEvent} */ (event).detail || this.session.pickUp(piece));
    }

    /** @type {(event: PointerEvent, element: Element, piece: number, group: SVGGElement) => void} */
    down(event, element, piece, group) {
      if (event.button !== 0 || this.held) return;
      if (this.session.carried !== null) this.session.putDown();
      element.setPointerCapture(event.pointerId);
      const inverse = /** @type {DOMMatrix} */ (group.getScreenCTM()).inverse();
      const grab = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
      this.held = {
        piece, element, id: event.pointerId, from: [event.clientX, event.clientY],
        lift: event.pointerType === "touch" ? LIFT_PX : 0, grab: [grab.x, grab.y], moving: false,
        now: [0, 0], before: null,
      };
      this.session.select(piece);
    }

    /** @param {PointerEvent} event */
    move(event) {
      const { held } = this;
      if (held?.id !== event.pointerId) return;
      if (event.buttons) this.drag(event);
      else this.cancel(event); // it was released outside the window
    }

    /** Drags the piece once the pointer has moved too far for a tap.
     * @param {PointerEvent} event */
    drag(event) {
      const held = /** @type {Fabkit.Held} */ (this.held);
      const distance = Math.hypot(event.clientX - held.from[0], event.clientY - held.from[1]);
      if (!held.moving && distance < STILL_PX) return;
      if (!held.moving) this.lift(event);
      held.now = [event.clientX, event.clientY];
      if (event.clientY < BRINK_PX) window.scrollBy(0, -12);
      if (event.clientY > window.innerHeight - BRINK_PX) window.scrollBy(0, 12);
      this.showDragged();
    }

    /** Starts dragging; this becomes a step only with the drop.
     * @param {MouseEvent} event */
    lift({ clientX, clientY }) {
      const held = /** @type {Fabkit.Held} */ (this.held);
      const before = this.session.game.placements.get(held.piece);
      Object.assign(held, { moving: true, before, now: [clientX, clientY] });
      held.element.classList.add("lifted");
      document.documentElement.classList.add("dragging");
      this.redraw();
    }

    redraw() {
      const { session: { game } } = this;
      const { piece } = /** @type {Fabkit.Held} */ (this.held);
      play.drawPiece(this.drawing, game, piece, game.placements.get(piece).orientation);
    }

    /** Shows the piece at the pointer, at the board's scale, and previews its landing. */
    showDragged() {
      const [x, y] = this.dragOrigin();
      const size = `${this.session.board.place.scale * UNIT}px`;
      const transform = `translate(${x}px, ${y}px)`;
      Object.assign(this.floating.style, { width: size, height: size, transform });
      this.session.board.preview(/** @type {Fabkit.Held} */ (this.held).piece, this.dropPlacement());
    }

    /** The screen position of the dragged piece's origin. */
    dragOrigin() {
      const { now, grab, lift } = /** @type {Fabkit.Held} */ (this.held);
      const { scale } = this.session.board.place;
      return [now[0] - grab[0] * scale, now[1] - lift - grab[1] * scale];
    }

    /** The placement if the piece were dropped now: on the board or in the tray.
     * @returns {Fabkit.Placement} */
    dropPlacement() {
      const { session: { board, game } } = this;
      const { piece } = /** @type {Fabkit.Held} */ (this.held);
      const { orientation } = game.placements.get(piece);
      const [x, y] = this.dragOrigin();
      const { scale, left, top } = board.place;
      const [mx, my] = game.grid.toDrawing(...game.shape(piece).middle);
      if (!board.holds(x + mx * scale, y + my * scale)) return { orientation, at: null };
      const point = game.grid.fromDrawing((x - left) / scale, (y - top) / scale);
      return { orientation, at: game.clampToField(piece, orientation, game.grid.nearestStep(...point)) };
    }

    /** Rotates the dragged piece, or turns it over, about the pointer.
     * @type {Fabkit.PieceInput["reorient"]} */
    reorient(turn) {
      const { session: { game } } = this;
      const held = /** @type {Fabkit.Held} */ (this.held);
      const { piece, grab } = held;
      const before = game.grid.toDrawing(...game.shape(piece).middle);
      game.adjust(piece, { orientation: turn(piece).orientation, at: game.placements.get(piece).at });
      const after = game.grid.toDrawing(...game.shape(piece).middle);
      held.grab = [grab[0] - before[0] + after[0], grab[1] - before[1] + after[1]];
      this.redraw();
      this.showDragged();
    }

    /** @param {PointerEvent} event */
    up(event) {
      if (this.held?.id !== event.pointerId) return;
      const { piece, moving } = this.held;
      const dropPlacement = moving && this.dropPlacement();
      this.release();
      if (dropPlacement) this.session.drop(piece, dropPlacement);
      else this.tap(piece, event.timeStamp);
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

    /** Cancels the gesture and restores everything.
     * @type {Fabkit.PieceInput["cancel"]} */
    cancel(event) {
      if (!this.held || this.held.id !== (event?.pointerId ?? this.held.id)) return;
      this.release();
      this.session.update();
    }

    /** Ends dragging; the piece is back where it was. */
    release() {
      const { element, piece, before } = /** @type {Fabkit.Held} */ (this.held);
      if (before) this.session.game.adjust(piece, before);
      element.classList.remove("lifted");
      this.held = null;
      document.documentElement.classList.remove("dragging");
      this.drawing.replaceChildren();
      this.session.board.preview(null);
    }
  }

  /** @type {Fabkit.Play["ARROWS"]} */
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  /** Handles keys pressed in the game or without a focused element.
   * @type {Fabkit.Play["bindKeys"]} */
  function bindKeys(element, session) {
    document.addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (target !== document.body && !element.contains(target)) return;
      if (event.altKey || target.matches("select, textarea, input:not([type=checkbox])")) return;
      if (handleKey(event, session)) event.preventDefault();
    });
  }

  /** Handles a key; returns whether it did anything.
   * @type {(event: KeyboardEvent, session: Fabkit.Session) => boolean} */
  function handleKey(event, session) {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "y" || (key === "z" && event.shiftKey)) session.redo();
      else if (key === "z") session.undo();
      return key === "y" || key === "z";
    }
    const arrow = ARROWS[event.key];
    if (arrow) {
      if (session.carried !== null) session.step(...arrow);
      return session.carried !== null;
    }
    const group = /** @type {Element} */ (event.target).closest?.("g[role=button]");
    if (group && (event.key === "Enter" || event.key === " ")) {
      // Key repeat would put the piece down again.
      if (!event.repeat) session.pickUp(/** @type {number} */ (session.selected));
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

  Object.assign(play, /** @satisfies {Partial<Fabkit.Play>} */ ({ ARROWS, PieceInput, bindKeys }));
})();
