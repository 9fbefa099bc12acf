/** Makes SVG elements. */

const NAMESPACE = 'http://www.w3.org/2000/svg';

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number>>} attributes
 * @param {...(Node | string)} children
 */
export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}
