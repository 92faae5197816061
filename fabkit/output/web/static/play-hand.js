"use strict";
// Mouse, pen and finger: a piece is dragged, or tapped to be turned.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { UNIT, svg } = play;

  /** A pointer that moved less than this is a tap. */
  const STILL_PX = 6;
  /** A finger hides what is below it, so the piece floats above. */
  const LIFT_PX = 44;
  /** Two taps within this time turn a piece over. */
  const TWICE_MS = 280;
  /** So near to the window's edge a drag scrolls the page. */
  const BRINK_PX = 36;

  /** Follows one pointer at a time. */
  class Hand {
    /** @param {object} table what is played on: `Table` in play.js */
    constructor(table) {
      this.table = table;
      this.held = null;
      this.tapped = null;
      const viewBox = `0 0 ${UNIT} ${UNIT}`;
      this.floating = svg("svg", { class: "floating", viewBox, "aria-hidden": "true" }, svg("g"));
      document.body.append(this.floating);
      document.addEventListener("pointermove", (event) => this.move(event));
      document.addEventListener("pointerup", (event) => this.up(event));
      document.addEventListener("pointercancel", (event) => this.cancel(event));
    }

    /**
     * Makes an element one to drag a piece by.
     * @param {Element} element
     * @param {number} piece
     * @param {SVGGElement} group in which the piece is drawn
     */
    attach(element, piece, group) {
      element.addEventListener("pointerdown", (event) => this.down(event, element, piece, group));
      // A click without a pointer comes from a keyboard or a screen reader.
      element.addEventListener("click", (event) => {
        if (event.detail === 0) this.table.pickUp(piece);
      });
    }

    down(event, element, piece, group) {
      if (event.button !== 0 || this.held) return;
      if (this.table.carried !== null) this.table.putDown();
      element.setPointerCapture(event.pointerId);
      const inverse = group.getScreenCTM().inverse();
      const grab = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
      this.held = {
        piece, element, id: event.pointerId, from: [event.clientX, event.clientY],
        lift: event.pointerType === "touch" ? LIFT_PX : 0, grab: [grab.x, grab.y], moving: false,
      };
      this.table.select(piece);
    }

    move(event) {
      const { held } = this;
      if (held?.id !== event.pointerId) return;
      if (event.buttons) this.follow(event);
      else this.cancel(event); // it was released where nobody heard of it
    }

    /** Goes with the pointer once it has moved so far that it is no tap. */
    follow(event) {
      const { held } = this;
      const far = Math.hypot(event.clientX - held.from[0], event.clientY - held.from[1]);
      if (!held.moving && far < STILL_PX) return;
      if (!held.moving) this.lift();
      held.now = [event.clientX, event.clientY];
      if (event.clientY < BRINK_PX) window.scrollBy(0, -12);
      if (event.clientY > window.innerHeight - BRINK_PX) window.scrollBy(0, 12);
      this.show();
    }

    /** Takes a piece off the table into the hand. It is a step only when it is dropped. */
    lift() {
      this.held.moving = true;
      this.held.before = this.table.game.lying.get(this.held.piece);
      this.held.element.classList.add("lifted");
      document.documentElement.classList.add("dragging");
      this.redraw();
    }

    /** Draws the piece in the hand, as it lies now. */
    redraw() {
      const { game } = this.table;
      const { piece } = this.held;
      play.drawPiece(this.floating.firstChild, game, piece, game.lying.get(piece).way);
    }

    /** Shows the piece at the pointer, as large as the board has it now, and where it would land. */
    show() {
      const [x, y] = this.corner();
      const size = `${this.table.board.place.scale * UNIT}px`;
      const transform = `translate(${x}px, ${y}px)`;
      Object.assign(this.floating.style, { width: size, height: size, transform });
      this.table.board.preview(this.held.piece, this.landing());
    }

    /** Where on the screen the drawn piece's 0 is. */
    corner() {
      const { now, grab, lift } = this.held;
      const { scale } = this.table.board.place;
      return [now[0] - grab[0] * scale, now[1] - lift - grab[1] * scale];
    }

    /** Where the piece would lie if it were dropped now: on the board, or in the tray. */
    landing() {
      const { board, game } = this.table;
      const { piece } = this.held;
      const way = game.lying.get(piece).way;
      const [x, y] = this.corner();
      const { scale, left, top } = board.place;
      const [mx, my] = game.grid.drawn(...game.shape(piece).middle);
      if (!board.holds(x + mx * scale, y + my * scale)) return { way, at: null };
      const wish = game.grid.undrawn((x - left) / scale, (y - top) / scale);
      return { way, at: game.kept(piece, way, game.grid.nearestStep(...wish)) };
    }

    /** Turns or flips the piece in the hand about the pointer. */
    change(turn) {
      const { game } = this.table;
      const { piece, grab } = this.held;
      const before = game.grid.drawn(...game.shape(piece).middle);
      game.nudge(piece, { way: turn(piece).way, at: game.lying.get(piece).at });
      const after = game.grid.drawn(...game.shape(piece).middle);
      this.held.grab = grab.map((value, axis) => value - before[axis] + after[axis]);
      this.redraw();
      this.show();
    }

    up(event) {
      if (this.held?.id !== event.pointerId) return;
      const { piece, moving } = this.held;
      const landing = moving && this.landing();
      this.letGo();
      if (moving) this.table.drop(piece, landing);
      else this.tap(piece, event.timeStamp);
    }

    /** Turns a tapped piece; the second tap in a row turns it over instead. */
    tap(piece, time) {
      const { table, tapped } = this;
      const twice = tapped?.piece === piece && time - tapped.time < TWICE_MS;
      this.tapped = twice ? null : { piece, time, before: table.game.lying };
      if (twice && table.game.canFlip(piece)) table.flipInstead(tapped.before);
      else table.turn("right");
    }

    /** Leaves everything as it was before the gesture. */
    cancel(event) {
      if (!this.held || this.held.id !== (event?.pointerId ?? this.held.id)) return;
      this.letGo();
      this.table.update();
    }

    /** Nothing is in the hand any more, and the piece that was lies as before. */
    letGo() {
      const { element, piece, moving, before } = this.held;
      if (moving) this.table.game.nudge(piece, before);
      element.classList.remove("lifted");
      this.held = null;
      document.documentElement.classList.remove("dragging");
      this.floating.firstChild.replaceChildren();
      this.table.board.preview(null);
    }
  }

  Object.assign(play, { Hand });
})();
