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
      'A WHIP client sends: each audio and video of its offer is sendonly or sendrecv.';
    return problemResponse('unacceptable-offer', detail);
  }
  const call = await placeCall(context, oneWay);
  return call instanceof Response ? call : answered(call, `/v1/calls/${call.id}`);
}

/**
 * The offer with every sendrecv made sendonly, so that its answer is recvonly (RFC 9725 §4.2). Undefined when some
 * media would not be sent, or there is none.
 */
export function sendingOnly(offer: string): string | undefined {
  const [session = '', ...media] = offer.split(/^(?=m=)/m);
  const inherited = directionOf(session) ?? 'sendrecv';
  let sends = false;
  const sections: string[] = [];
  for (const section of media) {
    if (!/^m=(?:audio|video) /.test(section)) {
      sections.push(section);
      continue;
    }
    const direction = directionOf(section);
    if (!(direction ?? inherited).startsWith('send')) return undefined;
    sends = true;
    const end = section.endsWith('\n') ? '' : '\r\n';
    sections.push(
      direction === undefined
        ? `${section}${end}a=sendonly\r\n`
        : section.replace(/^a=sendrecv(?=\r?$)/gm, 'a=sendonly'),
    );
  }
  return sends ? session + sections.join('') : undefined;
}

function directionOf(section: string): string | undefined {
  return /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m.exec(section)?.[1];
}
