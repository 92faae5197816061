"use strict";
// The keyboard: everything that a pointer can do.
(() => {
  const play = (window.fabkitPlay ??= {});

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  /**
   * Listens to the keys that are pressed on the table, or on nothing in particular.
   * @param {HTMLElement} element that holds board, tray and tools
   * @param {object} table a `Table`
   */
  function listen(element, table) {
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (target !== document.body && !element.contains(target)) return;
      if (event.altKey || isTyping(target)) return;
      const done = event.ctrlKey || event.metaKey ? undoing(event, table) : acting(event, table);
      if (done) event.preventDefault();
    });
  }

  const isTyping = (target) => target.matches("select, textarea, input:not([type=checkbox])");

  function undoing(event, table) {
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return false;
    if (key === "y" || event.shiftKey) table.redo();
    else table.undo();
    return true;
  }

  /** Does what a key means; whether it means anything. */
  function acting(event, table) {
    const arrow = ARROWS[event.key];
    if (arrow) {
      if (table.carried !== null) table.step(...arrow);
      return table.carried !== null;
    }
    const group = event.target.closest?.("g[role=button]");
    if (group && (event.key === "Enter" || event.key === " ")) {
      // A key that is held down would put down again what it picked up.
      if (!event.repeat) table.pickUp(table.selected);
      return true;
    }
    const action = {
      r: () => table.turn(event.shiftKey ? "left" : "right"),
      f: () => table.flip(),
      h: () => table.hint(),
      escape: () => table.toTray(),
    }[event.key.toLowerCase()];
    action?.();
    return Boolean(action);
  }

  Object.assign(play, { listen });
})();
