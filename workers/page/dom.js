/** The page's elements, found by id and checked for their kind. */

/**
 * @template {HTMLElement} E
 * @param {string} id
 * @param {new () => E} kind As `HTMLButtonElement`.
 * @returns {E}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return element;
}

/**
 * @param {string} id
 * @param {string} text
 */
export function setText(id, text) {
  const element = byId(id, HTMLElement);
  // Untouched text stays unannounced by screen readers.
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @param {string} id
 * @param {boolean} hidden
 */
export function setHidden(id, hidden) {
  byId(id, HTMLElement).hidden = hidden;
}
