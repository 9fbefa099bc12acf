/** Reads what the edge says about a call in its answer: the path, the timings, the candidates. */

/** @typedef {{ colo?: string, cluster?: string, ingress?: string, transceiver?: string }} RelayPath */
/** @typedef {{ name: string, duration: number }} ServerTiming Duration in milliseconds. */

const PATH_MEMBER = /([a-z]+)=(?:"([^"]*)"|(-?\d+))/g;

/**
 * @param {string | null} header `Relay-Path`, a dictionary (RFC 9651 §3.2) of strings and integers.
 * @returns {RelayPath}
 */
export function readRelayPath(header) {
  return Object.fromEntries(
    [...(header ?? '').matchAll(PATH_MEMBER)].map(([, key, text, number]) => [key, text ?? number]),
  );
}

/**
 * @param {string | null} header `Server-Timing`; metrics without a duration are left out.
 * @returns {ServerTiming[]}
 */
export function readServerTiming(header) {
  return (header ?? '').split(',').flatMap((metric) => {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='));
    return name && duration ? [{ name, duration: Number(duration.slice(4)) }] : [];
  });
}

/**
 * @param {string} sdp
 * @returns {string[]} The candidates' addresses as `ADDRESS:PORT/TRANSPORT`, each once.
 */
export function readCandidates(sdp) {
  const found = [...sdp.matchAll(/^a=candidate:\S+ 1 (\S+) \d+ (\S+) (\d+) typ /gm)].map(
    ([, transport, address, port]) => `${address}:${port}/${transport?.toLowerCase()}`,
  );
  return [...new Set(found)];
}
