/** Sends on a data channel and waits for the same to come back, among whatever else comes. */

/** Milliseconds until a message counts as lost. */
const ECHO_TIMEOUT = 10_000;

/** Characters of the large message that a check sends: more than one SCTP packet and one 64 kB message. */
const LARGE_MESSAGE = 100_000;

/** The back ends that may be sent large texts: for a model they would be part of what it thinks about. */
const PARROT = 'parrot';

/** Asks the parrot, which takes turns and would wait for a tone to pause, to say all back at once. */
const ECHO_VOICE = {
  type: 'session.update',
  session: { type: 'realtime', audio: { output: { voice: 'echo' } } },
};

/** @typedef {string | ArrayBuffer} Message */

export class Echo {
  /** @type {RTCDataChannel} */
  #channel;
  /** @type {Set<(data: Message) => void>} */
  #waiting = new Set();
  /** @type {string | undefined} The model that a back end of the Realtime protocol says it is. */
  #model;

  #wantsEcho;

  /**
   * @param {RTCDataChannel} channel
   * @param {() => boolean} wantsEcho Whether sound should come back at once.
   */
  constructor(channel, wantsEcho) {
    this.#channel = channel;
    this.#wantsEcho = wantsEcho;
    channel.binaryType = 'arraybuffer';
    channel.addEventListener('message', ({ data }) => this.#onMessage(data));
  }

  /**
   * @param {string | Uint8Array<ArrayBuffer>} data
   * @returns {Promise<boolean>} True once it came back as it went; rejects when it does not.
   */
  async send(data) {
    const back = this.#back((message) => sameData(data, message));
    if (typeof data === 'string') this.#channel.send(data);
    else this.#channel.send(data);
    return back;
  }

  /**
   * One short text and, where it does no harm, one long one, as items of a conversation: a back end of the
   * Realtime protocol takes note of an item with the item itself.
   *
   * @returns {Promise<{ same: boolean, bytes: number, ms: number }>} `ms` is the short text's round trip.
   */
  async check() {
    const start = performance.now();
    const short = await this.#sendItem(`hello at ${new Date().toISOString()} – ¿là?`);
    const ms = performance.now() - start;
    if (this.#model !== undefined && this.#model !== PARROT) return { same: short, bytes: 0, ms };
    const text = Array.from({ length: LARGE_MESSAGE }, (_, at) => (at * 31) % 10).join('');
    return { same: (await this.#sendItem(text)) && short, bytes: LARGE_MESSAGE, ms };
  }

  /** @param {string} text */
  #sendItem(text) {
    const content = [{ type: 'input_text', text }];
    const item = { type: 'message', role: 'user', content };
    const back = this.#back((message) => textOfItem(message) === text);
    this.#channel.send(JSON.stringify({ type: 'conversation.item.create', item }));
    return back;
  }

  /** @param {Message} data */
  #onMessage(data) {
    const event = eventOf(data);
    if (event?.type === 'session.created') this.#onSession(event.session?.model ?? '');
    for (const take of this.#waiting) take(data);
  }

  /** @param {string} model */
  #onSession(model) {
    this.#model = model;
    if (model === PARROT && this.#wantsEcho()) this.#channel.send(JSON.stringify(ECHO_VOICE));
  }

  /**
   * @param {(message: Message) => boolean} isIt
   * @returns {Promise<boolean>}
   */
  #back(isIt) {
    return new Promise((resolve, reject) => {
      /** @param {Message} data */
      const take = (data) => {
        if (!isIt(data)) return;
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new Error(`It did not come back within ${ECHO_TIMEOUT / 1000} s.`));
      }, ECHO_TIMEOUT);
      this.#waiting.add(take);
    });
  }
}

/** @param {Message} data */
function textOfItem(data) {
  return eventOf(data)?.item?.content?.[0]?.text;
}

/** @param {Message} data */
function eventOf(data) {
  if (typeof data !== 'string') return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/**
 * @param {string | Uint8Array} sent
 * @param {Message} received
 */
function sameData(sent, received) {
  if (typeof sent === 'string' || typeof received === 'string') return sent === received;
  const bytes = new Uint8Array(received);
  return bytes.length === sent.length && bytes.every((byte, index) => byte === sent[index]);
}
