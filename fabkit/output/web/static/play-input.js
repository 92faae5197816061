"use strict";
// Pointer and keyboard input: drag to move a piece, tap to rotate it; keys can do the same.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { UNIT, svg } = play;

  const STILL_PX = 6; // less movement than this is a tap
  const LIFT_PX = 44; // a touched piece floats above the finger that would hide it
  const TWICE_MS = 280; // two taps within this time turn the piece over
  const BRINK_PX = 36; // dragging this near to the window's edge scrolls the page
  /** Wheel distance for one rotation, and the pause that ends a wheel gesture. */
  const [NOTCH_PX, PAUSE_MS] = [60, 250];

  /** Tracks one pointer at a time. */
  class PieceInput {
    constructor(session) {
      Object.assign(this, { session, held: null, lastTap: null, wheel: { time: -Infinity } });
      const viewBox = `0 0 ${UNIT} ${UNIT}`;
      this.floating = svg("svg", { class: "floating", viewBox, "aria-hidden": "true" }, svg("g"));
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

    /** The dragged piece, or the movable one under the pointer; null for none. */
    pieceAt({ target, clientX: x, clientY: y }) {
      const { board, data, game, selected } = this.session;
      if (this.held) return this.held.piece;
      const id = target.closest?.("#play-game [data-piece]")?.dataset.piece;
      const piece = data.pieces.findIndex((one) => one.id === id);
      if (piece >= 0) return game.fixed.has(piece) ? null : piece;
      // A piece that was rotated away from the pointer still counts.
      const box = game.placements.get(selected)?.at && board.groups.get(selected).getBoundingClientRect();
      const isIn = box && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
      return isIn && board.element.contains(target) ? selected : null;
    }

    /** Rotates a piece, also while it is dragged. */
    rotate(event, piece, side) {
      if (piece === null) return;
      if (!this.held) this.session.select(piece);
      else if (!this.held.moving) this.lift(event);
      this.session.turn(side);
    }

    /** Rotates a piece with the wheel. A gesture that began as scrolling goes on as that. */
    onWheel(event) {
      if (event.timeStamp - this.wheel.time > PAUSE_MS) {
        this.wheel = { piece: this.pieceAt(event), distance: 0 };
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

    /** Makes a piece draggable by an element. */
    attach(element, piece, group) {
      element.addEventListener("pointerdown", (event) => this.down(event, element, piece, group));
      // A click without a pointer comes from a keyboard or a screen reader.
      element.addEventListener("click", ({ detail }) => detail || this.session.pickUp(piece));
    }

    down(event, element, piece, group) {
      if (event.button !== 0 || this.held) return;
      if (this.session.carried !== null) this.session.putDown();
      element.setPointerCapture(event.pointerId);
      const inverse = group.getScreenCTM().inverse();
      const grab = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
      this.held = {
        piece, element, id: event.pointerId, from: [event.clientX, event.clientY],
        lift: event.pointerType === "touch" ? LIFT_PX : 0, grab: [grab.x, grab.y], moving: false,
      };
      this.session.select(piece);
    }

    move(event) {
      const { held } = this;
      if (held?.id !== event.pointerId) return;
      if (event.buttons) this.drag(event);
      else this.cancel(event); // it was released outside the window
    }

    /** Drags the piece once the pointer has moved too far for a tap. */
    drag(event) {
      const { held } = this;
      const distance = Math.hypot(event.clientX - held.from[0], event.clientY - held.from[1]);
      if (!held.moving && distance < STILL_PX) return;
      if (!held.moving) this.lift(event);
      held.now = [event.clientX, event.clientY];
      if (event.clientY < BRINK_PX) window.scrollBy(0, -12);
      if (event.clientY > window.innerHeight - BRINK_PX) window.scrollBy(0, 12);
      this.showDragged();
    }

    /** Starts dragging; this becomes a step only with the drop. */
    lift({ clientX, clientY }) {
      const before = this.session.game.placements.get(this.held.piece);
      Object.assign(this.held, { moving: true, before, now: [clientX, clientY] });
      this.held.element.classList.add("lifted");
      document.documentElement.classList.add("dragging");
      this.redraw();
    }

    redraw() {
      const { session: { game }, held: { piece } } = this;
      play.drawPiece(this.floating.firstChild, game, piece, game.placements.get(piece).orientation);
    }

    /** Shows the piece at the pointer, at the board's scale, and previews its landing. */
    showDragged() {
      const [x, y] = this.dragOrigin();
      const size = `${this.session.board.place.scale * UNIT}px`;
      const transform = `translate(${x}px, ${y}px)`;
      Object.assign(this.floating.style, { width: size, height: size, transform });
      this.session.board.preview(this.held.piece, this.dropPlacement());
    }

    /** The screen position of the dragged piece's origin. */
    dragOrigin() {
      const { now, grab, lift } = this.held;
      const { scale } = this.session.board.place;
      return [now[0] - grab[0] * scale, now[1] - lift - grab[1] * scale];
    }

    /** The placement if the piece were dropped now: on the board or in the tray. */
    dropPlacement() {
      const { session: { board, game }, held: { piece } } = this;
      const { orientation } = game.placements.get(piece);
      const [x, y] = this.dragOrigin();
      const { scale, left, top } = board.place;
      const [mx, my] = game.grid.toDrawing(...game.shape(piece).middle);
      if (!board.holds(x + mx * scale, y + my * scale)) return { orientation, at: null };
      const point = game.grid.fromDrawing((x - left) / scale, (y - top) / scale);
      return { orientation, at: game.clampToField(piece, orientation, game.grid.nearestStep(...point)) };
    }

    /** Rotates the dragged piece, or turns it over, about the pointer. */
    reorient(turn) {
      const { session: { game }, held: { piece, grab } } = this;
      const before = game.grid.toDrawing(...game.shape(piece).middle);
      game.adjust(piece, { orientation: turn(piece).orientation, at: game.placements.get(piece).at });
      const after = game.grid.toDrawing(...game.shape(piece).middle);
      this.held.grab = grab.map((value, axis) => value - before[axis] + after[axis]);
      this.redraw();
      this.showDragged();
    }

    up(event) {
      if (this.held?.id !== event.pointerId) return;
      const { piece, moving } = this.held;
      const dropPlacement = moving && this.dropPlacement();
      this.release();
      if (moving) this.session.drop(piece, dropPlacement);
      else this.tap(piece, event.timeStamp);
    }

    /** Rotates a tapped piece; a second tap turns it over instead. */
    tap(piece, time) {
      const { session, lastTap } = this;
      const twice = lastTap?.piece === piece && time - lastTap.time < TWICE_MS;
      this.lastTap = twice ? null : { piece, time, before: session.game.placements };
      if (twice && session.game.canFlip(piece)) session.flipInstead(lastTap.before);
      else session.turn("right");
    }

    /** Cancels the gesture and restores everything. */
    cancel(event) {
      if (!this.held || this.held.id !== (event?.pointerId ?? this.held.id)) return;
      this.release();
      this.session.update();
    }

    /** Ends dragging; the piece is back where it was. */
    release() {
      const { element, piece, moving, before } = this.held;
      if (moving) this.session.game.adjust(piece, before);
      element.classList.remove("lifted");
      this.held = null;
      document.documentElement.classList.remove("dragging");
      this.floating.firstChild.replaceChildren();
      this.session.board.preview(null);
    }
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  /** Handles keys pressed in the game or without a focused element. */
  function bindKeys(element, session) {
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (target !== document.body && !element.contains(target)) return;
      if (event.altKey || target.matches("select, textarea, input:not([type=checkbox])")) return;
      if (handleKey(event, session)) event.preventDefault();
    });
  }

  /** Handles a key; returns whether it did anything. */
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
    const group = event.target.closest?.("g[role=button]");
    if (group && (event.key === "Enter" || event.key === " ")) {
      // Key repeat would put the piece down again.
      if (!event.repeat) session.pickUp(session.selected);
      return true;
    }
    const action = {
      r: () => session.turn(event.shiftKey ? "left" : "right"),
      f: () => session.flip(),
      h: () => session.hint(),
      escape: () => session.toTray(),
    }[key];
    action?.();
    return Boolean(action);
  }

  Object.assign(play, { ARROWS, PieceInput, bindKeys });
})();
