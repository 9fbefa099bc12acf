/** The client's side of an ICE restart by PATCH: fragments of SDP instead of offer and answer (RFC 9725 §4.3.3). */

/**
 * @param {string} offer
 * @returns {string} What of it is about ICE: the credentials and the m-line that carries the transport.
 */
export function fragmentOf(offer) {
  const lines = [/^a=ice-ufrag:.*$/m, /^a=ice-pwd:.*$/m, /^m=.*$/m, /^a=mid:.*$/m];
  return lines.map((line) => `${line.exec(offer)?.[0].trimEnd() ?? ''}\r\n`).join('');
}

/**
 * @param {string} answer The one of before.
 * @param {string} fragment
 * @returns {string} The answer with the ICE of the fragment: its credentials in every m-line, its candidates in the first.
 */
export function withFragment(answer, fragment) {
  /** @param {string} name */
  const value = (name) => new RegExp(`^a=${name}:(.*?)\r?$`, 'm').exec(fragment)?.[1] ?? '';
  const candidates = fragment.match(/^a=candidate:.*\r?\n/gm)?.join('') ?? '';
  let isFirst = true;
  return answer
    .replace(/^a=ice-ufrag:[^\r\n]*/gm, `a=ice-ufrag:${value('ice-ufrag')}`)
    .replace(/^a=ice-pwd:[^\r\n]*/gm, `a=ice-pwd:${value('ice-pwd')}`)
    .replace(/(^a=candidate:.*\r?\n)+/gm, () => {
      const those = isFirst ? candidates : '';
      isFirst = false;
      return those;
    });
}

/**
 * @param {string} sdp
 * @param {string} transport
 * @returns {string} Without the candidates of other transports, so that media must go by this one.
 */
export function onlyTransport(sdp, transport) {
  return sdp.replace(/^a=candidate:\S+ \d+ (\S+) .*\r?\n/gim, (line, found) =>
    found.toLowerCase() === transport ? line : '',
  );
}
