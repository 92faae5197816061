// The front page of several sets: translates it and shows the progress of each set.
import { formatCount, formatMessage } from "./play-draw.js";
import { Settings } from "./play-settings.js";
import { readItem } from "./play-store.js";

const { FABKIT: data } = window;

function updateCards() {
  const { messages } = data;
  document.title = messages.site_title;
  for (const card of document.querySelectorAll("[data-set]")) {
    const { set, ...numbers } = card.dataset;
    const [all, pieces] = [Number(numbers.challenges), Number(numbers.pieces)];
    const progress = readItem(`fabkit/${set}`);
    // Older pages have stored no tally.
    const [solved, count] = progress?.tally ?? [Math.min(progress?.solved?.length ?? 0, all), all];
    const facts = [formatCount(messages, "site", all), formatCount(messages, "pieces", pieces)];
    if (solved > 0) facts[0] = formatMessage(messages.tally, { solved, count });
    /** @type {HTMLElement} */ (card.querySelector("p")).textContent = facts.join(" · ");
  }
}

document.addEventListener("fabkit:language", updateCards);
// There may be new progress when the reader returns.
window.addEventListener("pageshow", (event) => event.persisted && updateCards());
new Settings();
