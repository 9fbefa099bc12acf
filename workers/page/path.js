/** Draws the two ways of a call: what set it up, and what its packets pass. */

/** @typedef {{ name: string, detail?: string }} Hop */

const YOU = { name: 'You' };

/**
 * @param {import('./call.js').Call} call One that the edge has answered.
 * @returns {Hop[]}
 */
export function signalingHops({ path: { colo, cluster, transceiver } }) {
  return [
    YOU,
    { name: `edge colo ${colo ?? 'unknown'}` },
    { name: `cluster ${cluster}`, detail: `its transceiver ${transceiver}` },
  ];
}

/**
 * @param {import('./call.js').Call} call One that the edge has answered.
 * @param {readonly string[]} near Relays of the region that should take the media in.
 * @returns {Hop[]}
 */
export function mediaHops({ path, relay, candidates }, near) {
  const { cluster, ingress, transceiver } = path;
  const end = { name: `transceiver ${transceiver}`, detail: `in cluster ${cluster}` };
  if (ingress !== cluster && relay && near.length > 0 && !near.includes(relay)) {
    const detail = `${relay}, as ${ingress} does not answer`;
    return [YOU, { name: `relay in ${cluster}`, detail }, end];
  }
  const known = candidates.filter((candidate) => near.includes(candidate));
  const detail = relay ?? (known.length > 0 ? known : candidates).join(' or ');
  const entry = { name: `relay in ${ingress}`, detail };
  if (ingress === cluster) return [YOU, entry, end];
  return [YOU, entry, { name: `relay in ${cluster}`, detail: 'reached over the trunk' }, end];
}

/**
 * @param {HTMLElement} list
 * @param {readonly Hop[]} hops
 */
export function drawHops(list, hops) {
  list.replaceChildren(
    ...hops.map(({ name, detail }) => {
      const item = document.createElement('li');
      const strong = document.createElement('b');
      strong.textContent = name;
      item.append(strong);
      if (detail) {
        const small = document.createElement('small');
        small.textContent = detail;
        item.append(' ', small);
      }
      return item;
    }),
  );
}
