/** Who may speak on a trunk. */
import { parseAddress } from '../../protocol/address.ts';
import { Networks } from '../networks.ts';

/** Most peers remembered; a region has far fewer relays. */
const MAX_REMEMBERED = 1024;

/**
 * @param cidrs Networks as `10.0.0.0/8` or `fd00::/8`.
 * @returns True for addresses within one of them; IPv4 addresses may come mapped into IPv6.
 * @throws Error that names what is not a network.
 */
export function peerFilter(cidrs: readonly string[]): (address: string) => boolean {
  const networks = new Networks(cidrs);
  const remembered = new Map<string, boolean>();
  return (address) => {
    let verdict = remembered.get(address);
    if (verdict === undefined) {
      verdict = networks.has(parseAddress(address));
      // Strangers are many and must not crowd peers out.
      if (verdict && remembered.size < MAX_REMEMBERED) remembered.set(address, verdict);
    }
    return verdict;
  };
}
