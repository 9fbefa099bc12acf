/** Sends on a data channel and waits for the same message to come back, in order. */

/** Milliseconds until a message counts as lost. */
const ECHO_TIMEOUT = 10_000;

/** Bytes of the large message that a check sends: more than one SCTP packet and one 64 kB message. */
const LARGE_MESSAGE = 100_000;

export class Echo {
  /** @type {RTCDataChannel} */
  #channel;
  /** @type {((data: string | ArrayBuffer) => void)[]} */
  #waiting = [];

  /** @param {RTCDataChannel} channel */
  constructor(channel) {
    this.#channel = channel;
    channel.binaryType = 'arraybuffer';
    channel.addEventListener('message', ({ data }) => this.#waiting.shift()?.(data));
  }

  /**
   * @param {string | Uint8Array<ArrayBuffer>} data
   * @returns {Promise<boolean>} Whether it came back as it went; rejects when nothing comes back.
   */
  async send(data) {
    const back = this.#next();
    if (typeof data === 'string') this.#channel.send(data);
    else this.#channel.send(data);
    return sameData(data, await back);
  }

  /**
   * One text and one large binary message.
   *
   * @returns {Promise<{ same: boolean, bytes: number, ms: number }>} `ms` is the text's round trip.
   */
  async check() {
    const start = performance.now();
    const text = await this.send(`hello at ${new Date().toISOString()} – ¿là?`);
    const ms = performance.now() - start;
    const binary = new Uint8Array(LARGE_MESSAGE).map((_, index) => (index * 31) ^ (index >> 8));
    return { same: (await this.send(binary)) && text, bytes: LARGE_MESSAGE, ms };
  }

  /** @returns {Promise<string | ArrayBuffer>} */
  #next() {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`Nothing came back within ${ECHO_TIMEOUT / 1000} s.`));
      }, ECHO_TIMEOUT);
      this.#waiting.push((data) => {
        clearTimeout(timer);
        resolve(data);
      });
    });
  }
}

/**
 * @param {string | Uint8Array} sent
 * @param {string | ArrayBuffer} received
 */
function sameData(sent, received) {
  if (typeof sent === 'string' || typeof received === 'string') return sent === received;
  const bytes = new Uint8Array(received);
  return bytes.length === sent.length && bytes.every((byte, index) => byte === sent[index]);
}
