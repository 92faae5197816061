// @ts-check
// The view "Play": the set's own page, made anew when the set has changed.

import { isReadable, listingsOf, worded } from "./challenges.js";
import { html } from "./play-draw.js";
import { ServerError } from "./server.js";

/** @typedef {import("./studio.js").Studio} Studio */

class PlayView {
  /** @param {Studio} studio
   * @param {HTMLElement} section */
  constructor(studio, section) {
    this.studio = studio;
    this.section = section;
    this.listings = listingsOf(studio);
    this.page = "";
    this.frame = html("iframe", { className: "play-frame" });
    this.wait = worded(studio, "p", "play_making", { className: "play-wait", hidden: true });
    this.notice = html("p", { className: "notice", hidden: true });
    section.replaceChildren(this.wait, this.notice, this.frame);
    studio.project.addEventListener("change", () => section.hidden || this.show());
    document.addEventListener("fabkit:language", () => this.label());
    this.label();
  }

  label() {
    this.frame.title = this.studio.text("play_page");
  }

  show() {
    return this.studio.attempt(() => this.update());
  }

  async update() {
    const { studio, frame, listings } = this;
    if (!studio.project.isRead) return;
    const isGood = isReadable(studio);
    this.say(isGood ? "" : studio.text("chall_faults"));
    if (!isGood) return;
    const timer = window.setTimeout(() => {
      this.wait.hidden = false;
    }, WAIT_MS);
    try {
      const listing = await listings.get(() => {});
      if (!listing) return;
      const { wanted } = listings;
      listings.wanted = "";
      const open = wanted || this.open;
      const hash = listing.data.entries.some(({ id }) => id === open)
        ? `#${encodeURIComponent(open)}`
        : "";
      const address = new URL(`made/${listing.page}${hash}`, document.baseURI).href;
      if (listing.page !== this.page || (wanted && wanted !== this.open))
        frame.contentWindow?.location.replace(address);
      this.page = listing.page;
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.say(error.message);
    } finally {
      window.clearTimeout(timer);
      this.wait.hidden = true;
    }
  }

  /** The challenge that is open in the page. */
  get open() {
    const inner = /** @type {any} */ (this.frame.contentWindow);
    return /** @type {string} */ (inner?.fabkitPlay?.page?.entry?.id ?? "");
  }

  /** @param {string} text */
  say(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
    this.frame.hidden = Boolean(text);
  }
}

/** A page that takes longer to make is announced. */
const WAIT_MS = 300;

/** @param {Studio} studio
 * @param {HTMLElement} section */
export function start(studio, section) {
  return new PlayView(studio, section);
}
