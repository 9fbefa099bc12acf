/** The two ways of a call: what set it up, and what its packets pass. */

/** @typedef {{ name: string, detail?: string }} Hop */

const YOU = { name: 'You' };

/** Which region a relay is of, as far as the edge has told. */
export class RelayRegions {
  /** @type {Map<string, string>} */
  #regions = new Map();

  /** @param {{ region: string, relays: readonly string[] } | undefined} ingress */
  learn(ingress) {
    for (const relay of ingress?.relays ?? []) this.#regions.set(relay, ingress?.region ?? '');
  }

  /**
   * The relays in an answer are the ingress', and then those of the call's own cluster.
   *
   * @param {import('./call.js').Call} call One that the edge has answered.
   * @returns {string | undefined} The region whose relay takes the media in, or should.
   */
  entryOf({ path, relay, candidates }) {
    const known = this.#regions.get(relay ?? candidates[0] ?? '');
    if (known !== undefined) return known;
    return relay !== undefined && candidates.indexOf(relay) > 0 && this.#regions.size > 0
      ? path.cluster
      : path.ingress;
  }

  /**
   * @param {readonly string[]} candidates
   * @param {string | undefined} region
   * @returns {string[]} Those of them that are known to be the region's.
   */
  of(candidates, region) {
    return candidates.filter((candidate) => this.#regions.get(candidate) === region);
  }
}

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
 * @param {RelayRegions} relays
 * @returns {Hop[]}
 */
export function mediaHops(call, relays) {
  const { path, relay, candidates } = call;
  const { cluster, ingress, transceiver } = path;
  const entry = relays.entryOf(call);
  const own = relays.of(candidates, entry);
  const at = relay ?? (own.length > 0 ? own : candidates).join(' or ');
  const passedBy = relay && entry === cluster && ingress !== cluster;
  const end = { name: `transceiver ${transceiver}`, detail: `in cluster ${cluster}` };
  const first = {
    name: `relay in ${entry}`,
    detail: passedBy ? `${at}, as ${ingress} does not answer` : at,
  };
  if (entry === cluster) return [YOU, first, end];
  return [YOU, first, { name: `relay in ${cluster}`, detail: 'reached over the trunk' }, end];
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
