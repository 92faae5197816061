// @ts-check
"use strict";
// The front page of several sets: translates it and shows the progress of each set.
(() => {
  const { FABKIT: data, fabkitPlay: play } = window;

  function updateCards() {
    const { messages } = data;
    document.title = messages.site_title;
    for (const card of document.querySelectorAll("[data-set]")) {
      const { set, ...numbers } = card.dataset;
      const [count, pieces] = [Number(numbers.challenges), Number(numbers.pieces)];
      const solved = Math.min(new play.Store(set).solved.size, count);
      const facts = [play.formatCount(messages, "site", count), play.formatCount(messages, "pieces", pieces)];
      if (solved) facts[0] = play.formatMessage(messages.tally, { solved, count });
      /** @type {HTMLElement} */ (card.querySelector("p")).textContent = facts.join(" · ");
    }
  }

  document.addEventListener("fabkit:language", updateCards);
  // There may be new progress when the reader returns.
  window.addEventListener("pageshow", (event) => event.persisted && updateCards());
  new play.Settings();
})();
