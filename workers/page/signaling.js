/** A call's requests to the edge: it starts, restarts its ICE, and ends (RFC 9725). */
import { readCandidates, readRelayPath, readServerTiming } from './answer.js';
import { readProblem } from './call-error.js';
import { fragmentOf, onlyTransport, withFragment } from './ice-restart.js';
import { placeHeaders } from './places.js';

const CALLS_URL = '/v1/calls';

/**
 * @typedef {object} StartedCall
 * @property {string} answer SDP.
 * @property {import('./answer.js').RelayPath} path
 * @property {import('./answer.js').ServerTiming[]} edgeTimings How the edge spent its time.
 * @property {string[]} candidates Where the answer lets media go.
 */

export class Signaling {
  /** @type {string | undefined} */
  #location;
  #answer = '';

  /** @param {import('./places.js').Place | undefined} place Where to call from, in a local run. */
  constructor(place) {
    this.place = place;
  }

  /**
   * @param {string} offer
   * @returns {Promise<StartedCall>} Rejects with a CallError when the edge refuses.
   */
  async start(offer) {
    const response = await fetch(CALLS_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', ...placeHeaders(this.place) },
      body: offer,
    });
    if (response.status !== 201) throw await readProblem(response);
    const answer = await response.text();
    this.#answer = answer;
    this.#location = response.headers.get('location') ?? undefined;
    return {
      answer,
      path: readRelayPath(response.headers.get('relay-path')),
      edgeTimings: readServerTiming(response.headers.get('server-timing')),
      candidates: readCandidates(answer),
    };
  }

  /**
   * @param {string} offer One that restarts ICE.
   * @param {'udp' | 'tcp' | undefined} transport The only one to go by; all of them without it.
   * @returns {Promise<{ answer: string, candidates: string[] }>} Rejects with a CallError when the edge refuses.
   */
  async restart(offer, transport) {
    const response = await fetch(this.#location ?? CALLS_URL, {
      method: 'PATCH',
      headers: {
        'content-type': 'application/trickle-ice-sdpfrag',
        'if-match': '*',
        ...placeHeaders(this.place),
      },
      body: fragmentOf(offer),
    });
    if (response.status !== 200) throw await readProblem(response);
    this.#answer = withFragment(this.#answer, await response.text());
    const answer = transport ? onlyTransport(this.#answer, transport) : this.#answer;
    return { answer, candidates: readCandidates(answer) };
  }

  /** Ends the call at the edge, if it stands. Never rejects. */
  async end() {
    const location = this.#location;
    if (!location) return;
    this.#location = undefined;
    try {
      // keepalive lets the request outlive the page.
      await fetch(location, { method: 'DELETE', keepalive: true });
    } catch {
      // The session ends by itself when its client is gone.
    }
  }
}
