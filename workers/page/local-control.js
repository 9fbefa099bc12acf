/** What the page may do to a local run; a deployment has no such control. */
import { readProblem } from './call-error.js';

/** @typedef {{ killed: number, started: number, ms: number }} KilledRelay Process ids, and milliseconds between. */

export class LocalControl {
  #url;

  /** @param {string} url Base URL without a final slash. */
  constructor(url) {
    this.#url = url;
  }

  /** @returns {LocalControl | undefined} The one that this page was served with. */
  static find() {
    const meta = document.querySelector('meta[name="local-control"]');
    const url = meta?.getAttribute('content');
    return url ? new LocalControl(url) : undefined;
  }

  /**
   * @param {string} region
   * @returns {Promise<KilledRelay>} Once the next one serves. Rejects with a CallError when none does.
   */
  killRelay(region) {
    return this.#ask('POST', `/relays/${region}/kill`);
  }

  /**
   * @param {string} region
   * @param {boolean} isDrained False puts it back.
   */
  async drain(region, isDrained) {
    await this.#ask(isDrained ? 'PUT' : 'DELETE', `/drained/${region}`);
  }

  /**
   * @param {string} method
   * @param {string} path
   */
  async #ask(method, path) {
    const response = await fetch(this.#url + path, { method });
    if (!response.ok) throw await readProblem(response);
    return response.json();
  }
}
