/** Why a call could not be, in words for the person who pressed the button. */

export class CallError extends Error {
  /**
   * @param {string} title What went wrong.
   * @param {string} detail What to do about it, or what the edge says.
   */
  constructor(title, detail) {
    super(title);
    this.name = 'CallError';
    this.detail = detail;
  }
}

/**
 * @param {Response} response One that is not 201.
 * @returns {Promise<CallError>} Its problem details (RFC 9457), when it has any.
 */
export async function readProblem(response) {
  const text = await response.text();
  try {
    const { title, detail } = JSON.parse(text);
    if (typeof title === 'string') {
      return new CallError(title, `${detail ?? ''} (HTTP ${response.status})`.trim());
    }
  } catch {
    // Not JSON: an answer of something in between, told by its status alone.
  }
  return new CallError('The edge did not take the call', `HTTP ${response.status}`);
}

/**
 * @param {string} title
 * @param {readonly string[]} candidates `ADDRESS:PORT/TRANSPORT` of each relay that was tried.
 * @returns {CallError}
 */
export function noAnswer(title, candidates) {
  const relays = candidates.join(' or ');
  if (!relays) return new CallError(title, 'The answer named no relay; see the log of the edge.');
  if (relays.startsWith('127.') && navigator.userAgent.includes('Firefox')) {
    const detail =
      'Firefox sends no media to 127.0.0.1. Start with an address of this machine in your network, ' +
      'as npm start -- --media 192.168.1.5, or open this page in another browser.';
    return new CallError(title, detail);
  }
  const remedy = relays.startsWith('127.')
    ? 'That is on this machine: see in the terminal of npm start whether the region still runs, and ' +
      'that no extension or setting of this browser forbids UDP in WebRTC.'
    : 'Let UDP to it through your firewall or VPN, or try another network.';
  return new CallError(title, `No relay answers at ${relays}. ${remedy} Then press Talk again.`);
}

/**
 * @param {unknown} error
 * @returns {CallError}
 */
export function asCallError(error) {
  if (error instanceof CallError) return error;
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotAllowedError') {
    return new CallError(
      'The microphone is blocked',
      'Allow it for this page, in the bar where the address stands, and press Talk again.',
    );
  }
  if (name === 'NotFoundError') {
    return new CallError('There is no microphone', 'Plug one in and press Talk again.');
  }
  if (name === 'TypeError' && !navigator.mediaDevices) {
    return new CallError(
      'The microphone needs a safe page',
      'Open this page by https or localhost.',
    );
  }
  if (name === 'TypeError') {
    return new CallError('The edge cannot be reached', 'Is it running? Is this machine online?');
  }
  return new CallError(
    'The call did not start',
    error instanceof Error ? error.message : String(error),
  );
}
