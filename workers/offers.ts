/** What counts as an SDP offer before a transceiver looks at it. */
import { problemResponse } from '../protocol/problem.ts';
import { MAX_OFFER_BYTES } from '../protocol/creation.ts';
import { decodeText } from './forward.ts';

/** The offer as text, or why it is none. */
export function readOffer(bytes: ArrayBuffer | Uint8Array): string | Response {
  if (bytes.byteLength > MAX_OFFER_BYTES) return offerTooLarge();
  const offer = decodeText(bytes);
  return offer !== undefined && /^v=0[\r\n]/.test(offer) ? offer : noDescription(offer);
}

export function offerTooLarge(): Response {
  return problemResponse('offer-too-large', `An offer has at most ${MAX_OFFER_BYTES} bytes.`);
}

function noDescription(offer: string | undefined): Response {
  const isOneLine = offer?.startsWith('v=0') && !/[\r\n]/.test(offer);
  const detail = isOneLine
    ? 'The offer has lost its line breaks. With curl, send a file by --data-binary @FILE; -d takes them out.'
    : 'A session description begins with the line v=0.';
  return problemResponse('malformed-offer', detail);
}
