// @ts-check
// Replacing what is in an element while somebody uses it.

/** How often to look whether a button is released. */
const RELEASE_MS = 30;
/** Timers of the content that waits for a release, by element.
 * @type {WeakMap<Element, number>} */
const waiting = new WeakMap();

/** Puts other content into an element. The focus stays on what has the same key. While a button in it is
 * pressed, which would not be clicked if it were replaced, this waits; newer content takes its place.
 * @param {HTMLElement} element
 * @param {string} name of the key: `data-NAME`
 * @param {() => Element[]} make */
export function replaceContent(element, name, make) {
  window.clearTimeout(waiting.get(element));
  if (element.matches(":active")) {
    waiting.set(
      element,
      window.setTimeout(() => replaceContent(element, name, make), RELEASE_MS),
    );
    return;
  }
  const focused = element.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement).dataset[name]
    : null;
  element.replaceChildren(...make());
  if (focused)
    /** @type {HTMLElement | null} */ (
      element.querySelector(`[data-${name}="${focused}"]`)
    )?.focus();
}
