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
