/**
 * Hands the proven flows of a relay to the process that takes its place on the same machine: a stream of
 * records, each a trunk header with the flow's client, proxy and listener, and then its token.
 */
import type { RoutingKey } from '../../protocol/routing-keys.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import { UFRAG_LENGTH, UfragCodec } from '../../protocol/ufrag.ts';
import { HANDED_OVER_TOTAL, type FlowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { steadyNow } from './moment.ts';
import { FlowWalk } from './recovery/flow-walk.ts';

export const HAND_OVER_PATH = '/flows';

const RECORD_LENGTH = TRUNK_HEADER_LENGTH + UFRAG_LENGTH;

/** Milliseconds in which nothing comes after which the other relay counts as hung. */
export const HAND_OVER_SILENCE = 2_000;

/** Flows looked at between two turns of the event loop. */
const SLICE = 4_096;

/** All proven flows, as records. Forwarding goes on meanwhile. */
export function streamFlows(flows: FlowMemory): ReadableStream<Uint8Array> {
  const walk = new FlowWalk(flows, flows.limits.idle);
  let left = walk.length;
  return new ReadableStream({
    pull(controller) {
      const places = Math.min(SLICE, left);
      left -= places;
      const records = Buffer.alloc(places * RECORD_LENGTH);
      let length = 0;
      walk.advance(places, places, steadyNow(), (header, token) => {
        records.set(header, length);
        records.set(token.subarray(0, UFRAG_LENGTH), length + TRUNK_HEADER_LENGTH);
        length += RECORD_LENGTH;
      });
      // A stream would wait for more after an empty piece.
      if (length > 0) controller.enqueue(records.subarray(0, length));
      else if (left > 0) controller.enqueue(Buffer.alloc(0));
      if (left === 0) controller.close();
    },
  });
}

/**
 * Takes over the flows of another relay; those with tokens that are not good here are left out.
 *
 * @param admin Base URL of that relay's admin server.
 * @param longestSilence Milliseconds in which nothing comes after which to give it up.
 * @returns How many are new here.
 * @throws Error when it does not answer, not with flows, or not to the end.
 */
export async function takeFlows(
  admin: string,
  flows: FlowMemory,
  routingKeys: readonly [RoutingKey, ...RoutingKey[]],
  longestSilence = HAND_OVER_SILENCE,
): Promise<number> {
  const hung = new AbortController();
  const silence = setTimeout(() => {
    hung.abort(new Error(`${admin} gave nothing for ${longestSilence} ms.`));
  }, longestSilence);
  try {
    const response = await fetch(new URL(HAND_OVER_PATH, admin), {
      headers: { connection: 'close' },
      signal: hung.signal,
    });
    return await takeRecords(response, admin, flows, routingKeys, () => silence.refresh());
  } finally {
    clearTimeout(silence);
  }
}

/** @param onPiece Called with each piece that comes. */
async function takeRecords(
  response: Response,
  admin: string,
  flows: FlowMemory,
  routingKeys: readonly [RoutingKey, ...RoutingKey[]],
  onPiece: () => void,
): Promise<number> {
  if (response.status !== 200 || !response.body) {
    throw new Error(`${admin} answered ${response.status} to a request for its flows.`);
  }
  const table = new FlowTable(flows);
  const codec = new UfragCodec(routingKeys);
  let taken = 0;
  let rest = Buffer.alloc(0);
  for await (const piece of response.body) {
    onPiece();
    const bytes = Buffer.concat([rest, piece]);
    let at = 0;
    for (; at + RECORD_LENGTH <= bytes.length; at += RECORD_LENGTH) {
      const token = bytes.subarray(at + TRUNK_HEADER_LENGTH, at + RECORD_LENGTH);
      const opened = codec.open(token, Date.now());
      if (!opened.ok) continue;
      const { route } = opened;
      if (table.restore(bytes, at, route, token, steadyNow(), HANDED_OVER_TOTAL)) taken++;
    }
    rest = bytes.subarray(at);
  }
  return taken;
}
