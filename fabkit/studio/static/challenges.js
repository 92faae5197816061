// @ts-check
/** @typedef {import("./studio.js").Studio} Studio */

/** @param {Studio} studio
 * @param {HTMLElement} section */
export function start(studio, section) {
  section.replaceChildren();
  return {};
}
