/** `npm run ops -- decode UFRAG` */
import { OptionsError, parseCommandLine } from '../../origin/command-line.ts';
import { readFootprint } from '../../origin/footprint-files.ts';
import type { Footprint } from '../../protocol/footprint.ts';
import type { RoutingKey } from '../../protocol/routing-keys.ts';
import {
  UFRAG_LENGTH,
  UfragCodec,
  type RouteSlot,
  type UfragRejection,
} from '../../protocol/ufrag.ts';
import { formatTable } from '../table.ts';
import { describeCluster, REGIONS_DIR, regionOf, type ClusterRegion } from './clusters.ts';
import { EXIT, type OpsCommand } from './ops-command.ts';
import { readRoutingKeys } from './routing-keys.ts';

const HELP = `Opens a ufrag as relays do, and says where it leads, or why relays refuse it and what to do.

  npm run ops -- decode UFRAG                 by the routing keys in ROUTING_KEYS
  npm run ops -- decode UFRAG --keys FILE     by those in a file: the same text, or a relay's configuration
  npm run ops -- decode UFRAG --json          the same as JSON
  npm run ops -- decode UFRAG --regions DIR   with the names of these region files

UFRAG is the server's: a=ice-ufrag of an SDP answer, "remote candidates" in a browser's chrome://webrtc-internals,
or what stands before the colon in the USERNAME of a check, as in a capture of packets. The whole line and the whole
USERNAME do as well. The ufrag of an offer is the client's own, and says nothing.

  export ROUTING_KEYS="$(cat keys)"; npm run ops -- decode AbUoQSVyDbkyhq5PbdEBBPQ

Ends with 0 when relays take it, with 1 when they refuse it, with 3 when a key or the command line is wrong.`;

/** Plain JSON. */
export type DecodedUfrag =
  | {
      readonly accepted: boolean;
      readonly key: string;
      readonly cluster: number;
      readonly region: ClusterRegion | undefined;
      readonly transceiver: number;
      /** ISO 8601. */
      readonly expiresAt: string;
      /** Unless it is accepted. */
      readonly refusal?: Refusal;
    }
  | { readonly accepted: false; readonly refusal: Refusal };

interface Refusal {
  /** As in `relay_drops_total`. */
  readonly reason: 'malformed-ufrag' | 'unknown-cluster' | Exclude<UfragRejection, 'malformed'>;
  readonly means: string;
  readonly todo: string;
}

export const decode: OpsCommand = {
  help: HELP,
  async run(args, { env, output }) {
    const { values, positionals } = parseCommandLine({
      args: [...args],
      options: {
        keys: { type: 'string' },
        regions: { type: 'string', default: REGIONS_DIR },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [text, ...more] = positionals;
    if (text === undefined || more.length > 0) throw new OptionsError('Give one ufrag.');
    const keys = await readRoutingKeys(values.keys, env);
    const footprint = await readFootprint(values.regions);
    const decoded = decodeUfrag(ufragIn(text), keys, footprint, Date.now());
    output.log(values.json ? JSON.stringify(decoded) : describe(decoded, Date.now()));
    return decoded.accepted ? EXIT.ok : EXIT.degraded;
  },
};

/** The server's ufrag of a line of SDP, of a USERNAME, or as it is. */
export function ufragIn(text: string): string {
  const [ufrag = ''] = text
    .trim()
    .replace(/^(a=)?ice-ufrag:/, '')
    .split(':');
  return ufrag;
}

/** Total. @param now Milliseconds since the Unix epoch. */
export function decodeUfrag(
  ufrag: string,
  keys: readonly [RoutingKey, ...RoutingKey[]],
  footprint: Footprint,
  now: number,
): DecodedUfrag {
  const route: RouteSlot = { cluster: 0, transceiver: 0, expiresAt: 0 };
  const bytes = Buffer.from(ufrag);
  const isWhole = bytes.length === UFRAG_LENGTH;
  const rejection = isWhole ? new UfragCodec(keys).read(route, bytes, 0) : 'malformed';
  if (rejection) return { accepted: false, refusal: refusalOf(rejection, ufrag, keys) };
  const { cluster, transceiver, expiresAt } = route;
  const region = regionOf(footprint, cluster);
  const opened = {
    key: ufrag[0]!,
    cluster,
    region,
    transceiver,
    expiresAt: new Date(expiresAt).toISOString(),
  };
  if (expiresAt <= now) return { accepted: false, ...opened, refusal: EXPIRED };
  if (!region) return { accepted: false, ...opened, refusal: UNKNOWN_CLUSTER };
  return { accepted: true, ...opened };
}

const EXPIRED: Refusal = {
  reason: 'expired',
  means: 'The session has reached its longest duration.',
  todo: 'Nothing: the client makes a new call.',
};
const UNKNOWN_CLUSTER: Refusal = {
  reason: 'unknown-cluster',
  means: 'The footprint has no region of that id, so relays made from it have no route there.',
  todo: 'Compare the region files here with those that edge and relays were made from; ids are never given to another.',
};

function refusalOf(
  rejection: Exclude<UfragRejection, 'expired'>,
  ufrag: string,
  keys: readonly RoutingKey[],
): Refusal {
  const ids = keys.map(({ id }) => id).join(' and ');
  switch (rejection) {
    case 'malformed':
      return {
        reason: 'malformed-ufrag',
        means: `It is no ufrag of this service: those are ${UFRAG_LENGTH} characters of A-Za-z0-9+/, one key id and one block; this has ${ufrag.length}.`,
        todo: 'Take a=ice-ufrag of the answer, whole; that of the offer is the client’s own.',
      };
    case 'unknown-key':
      return {
        reason: 'unknown-key',
        means: `It names the key ${ufrag[0]}, and you gave ${ids}.`,
        todo: 'Give the keys that the edge has now. If relays drop for this reason, bring their routingKeys up to date.',
      };
    default:
      return {
        reason: 'forged',
        means: `The key ${ufrag[0]} does not open it: it was sealed with other bytes, or by nobody who has a key.`,
        todo: 'If calls fail: the edge and whoever refuses have different keys under one id. Compare ROUTING_KEYS and routingKeys.',
      };
  }
}

function describe(decoded: DecodedUfrag, now: number): string {
  const { refusal } = decoded;
  const rows: string[][] = [];
  if ('key' in decoded) {
    const { key, cluster, region, transceiver, expiresAt } = decoded;
    rows.push(
      ['key', key],
      ['cluster', describeCluster(cluster, region)],
      ['transceiver', String(transceiver)],
      ['expires', `${expiresAt}, ${distance(Date.parse(expiresAt) - now)}`],
    );
  }
  if (refusal) {
    rows.push(['refused', refusal.reason], ['', refusal.means], ['what to do', refusal.todo]);
  } else {
    rows.push(['relays', 'take it']);
  }
  return formatTable(rows);
}

/** @param ms Negative for what is past. */
function distance(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const span = hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
  return ms > 0 ? `in ${span}` : `${span} ago`;
}
