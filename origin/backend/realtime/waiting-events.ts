/** Events that wait for a link that is not open yet: few, and not large together. */

const MAX_EVENTS = 64;

/** Characters of all of them: room for one of the largest a client may send, and for many of the usual. */
const MAX_CHARACTERS = 512 * 1024;

export class WaitingEvents {
  #events: string[] = [];
  #characters = 0;

  /** False when there is no room. */
  add(text: string): boolean {
    if (this.#events.length >= MAX_EVENTS) return false;
    if (this.#characters + text.length > MAX_CHARACTERS) return false;
    this.#events.push(text);
    this.#characters += text.length;
    return true;
  }

  /** All of them in order; none waits any more. */
  take(): string[] {
    const taken = this.#events;
    this.#events = [];
    this.#characters = 0;
    return taken;
  }
}
