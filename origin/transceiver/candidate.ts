/** The candidate lines of an answer: the relays' addresses, as if they were our own. */
import type { RelayAddress } from '../../protocol/signature.ts';

/** Type preference of a host candidate; lower over TCP, as RFC 6544 §4.2 asks of candidates without UDP. */
const UDP_PREFERENCE = 126;
const TCP_PREFERENCE = 90;

/** The local preference of a TCP host candidate is `2^13 * direction + other` (RFC 6544 §4.2). */
const PASSIVE = 4;
const DIRECTION = 2 ** 13;

const MAX_LOCAL_PREFERENCE = 65_535;
const COMPONENT = 1;

/** One line for each relay, without its end. Earlier ones are preferred among those of one transport. */
export function candidateLines(relays: readonly RelayAddress[]): string[] {
  return relays.map(({ address, port, transport }, index) => {
    const foundation = index + 1;
    const tcpType = transport === 'tcp' ? ' tcptype passive' : '';
    return (
      `a=candidate:${foundation} ${COMPONENT} ${transport} ${priority(transport, index)} ` +
      `${address} ${port} typ host${tcpType}`
    );
  });
}

/** RFC 8445 §5.1.2.1 */
function priority(transport: RelayAddress['transport'], index: number): number {
  const [type, local] =
    transport === 'udp'
      ? [UDP_PREFERENCE, MAX_LOCAL_PREFERENCE - index]
      : [TCP_PREFERENCE, PASSIVE * DIRECTION + (DIRECTION - 1) - index];
  return type * 2 ** 24 + local * 2 ** 8 + (256 - COMPONENT);
}
