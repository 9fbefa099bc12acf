/** `/whip`: ingest as RFC 9725 has it, where media goes one way. */
import { problemResponse } from '../protocol/problem.ts';
import { answered } from './calls.ts';
import type { EdgeContext } from './edge.ts';
import { readOffer } from './offers.ts';
import { placeCall } from './place-call.ts';

/** `POST /whip`. The session's URL is that of a call, and takes what that takes. */
export async function startIngest(context: EdgeContext): Promise<Response> {
  const offer = readOffer(await context.req.arrayBuffer());
  if (offer instanceof Response) return offer;
  const oneWay = sendingOnly(offer);
  if (oneWay === undefined) {
    const detail =
      'A WHIP client sends: its offer has one audio at most and one video, each sendonly or sendrecv.';
    return problemResponse('unacceptable-offer', detail);
  }
  const call = await placeCall(context, oneWay);
  return call instanceof Response ? call : answered(call, `/v1/calls/${call.id}`);
}

/**
 * The offer with every sendrecv made sendonly, so that its answer is recvonly (RFC 9725 §4.2). Undefined when some
 * media would not be sent, there is none, or more than one of a kind (§4.4.2).
 */
export function sendingOnly(offer: string): string | undefined {
  const [session = '', ...media] = offer.split(/^(?=m=)/m);
  const inherited = directionOf(session) ?? 'sendrecv';
  const sent = new Set<string>();
  const sections: string[] = [];
  for (const section of media) {
    const kind = /^m=(audio|video) /.exec(section)?.[1];
    if (kind === undefined || isRejected(section)) {
      sections.push(section);
      continue;
    }
    const direction = directionOf(section);
    if (!(direction ?? inherited).startsWith('send') || sent.has(kind)) return undefined;
    sent.add(kind);
    const end = section.endsWith('\n') ? '' : '\r\n';
    sections.push(
      direction === undefined
        ? `${section}${end}a=sendonly\r\n`
        : section.replace(/^a=sendrecv(?=\r?$)/gm, 'a=sendonly'),
    );
  }
  return sent.size > 0 ? session + sections.join('') : undefined;
}

/** Port 0 takes media out of an offer, unless it shares the port of another (RFC 9143 §6). */
function isRejected(section: string): boolean {
  return /^m=\w+ 0[ /]/.test(section) && !/^a=bundle-only\r?$/m.test(section);
}

function directionOf(section: string): string | undefined {
  return /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m.exec(section)?.[1];
}
