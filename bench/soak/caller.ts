/** Calls without media: an offer that is answered, and an end. */
import { placeHeaders, type Place } from '../../local/place.ts';
import { OFFER } from '../../test/support/offers.ts';

/** Milliseconds until an answer counts as lost. */
const TIMEOUT = 20_000;

/** What came of an offer: a call, a no that names a limit (429), or anything else. */
export type Answer =
  | {
      readonly outcome: 'taken';
      readonly took: number;
      readonly end: () => Promise<string | undefined>;
    }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'lost'; readonly why: string };

/** The APIs that take an offer as SDP, and how each ends a call. */
const APIS = [
  { path: '/v1/calls', end: { method: 'DELETE', suffix: '' } },
  { path: '/v1/realtime/calls', end: { method: 'POST', suffix: '/hangup' } },
] as const;

export interface CallerOptions {
  /** Base URL of the edge. */
  readonly edge: string;
  readonly key: string;
  readonly place: Place;
  /** Chooses one of the APIs. */
  readonly turn: number;
}

/** Never rejects. */
export async function placeCall({ edge, key, place, turn }: CallerOptions): Promise<Answer> {
  const api = APIS[turn % APIS.length]!;
  const headers = { authorization: `Bearer ${key}`, ...placeHeaders(place) };
  const start = performance.now();
  const offered = await ask(new URL(api.path, edge), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/sdp' },
    body: OFFER,
  });
  const { status, text, location } = offered;
  if (status === 429) return { outcome: 'refused' };
  if (status !== 201 || location === undefined) {
    return { outcome: 'lost', why: `an offer was answered with ${status} ${text}` };
  }
  const { method, suffix } = api.end;
  const end = async () => {
    const ended = await ask(new URL(location + suffix, edge), { method, headers });
    return ended.status === 200 ? undefined : `an end was answered with ${ended.status}`;
  };
  return { outcome: 'taken', took: performance.now() - start, end };
}

interface Asked {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly text: string;
  readonly location?: string | undefined;
}

async function ask(url: URL, init: RequestInit): Promise<Asked> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, text: await response.text(), location };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}
