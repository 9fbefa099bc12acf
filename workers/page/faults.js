/** What may be done to a call to see it survive, with a line in the log for each, and what came of it. */
import { asCallError } from './call-error.js';
import { byId, setHidden, setText } from './dom.js';
import { AUDIBLE_GAP } from './sound-watch.js';
import { formatMs } from './waterfall.js';
import { askWhere } from './where.js';

/** Lines that the log keeps. */
const MAX_LINES = 50;

const NO_GAP = '–';

/**
 * @typedef {object} Subject What the buttons act on.
 * @property {import('./call.js').Call | undefined} call The one that is going on.
 * @property {string | undefined} entry Region of the relay that its media goes to.
 * @property {string | undefined} cluster Its own, or the one that a call from here would go to.
 * @property {readonly import('./where.js').Region[]} regions
 * @property {import('./places.js').Place | undefined} place
 */

/** Fires `act` when something is done, `down` with a region whose relay is killed or back, and `steering` after a drain. */
export class Faults extends EventTarget {
  /** @type {string | undefined} A region whose relay is being started again. */
  down;

  #control;
  /** @type {Subject} */
  #subject = {
    call: undefined,
    entry: undefined,
    cluster: undefined,
    regions: [],
    place: undefined,
  };
  #log = byId('log', HTMLElement);
  #kill = byId('kill-relay', HTMLButtonElement);
  #drain = byId('drain', HTMLButtonElement);
  #restart = byId('restart-ice', HTMLButtonElement);
  #transport = byId('switch-transport', HTMLButtonElement);
  #putBack = byId('put-back', HTMLElement);
  #offered = '';
  #isBusy = false;
  /** @type {HTMLElement | undefined} Where the gap since the last action stands. */
  #gap;
  /** @type {string | undefined} */
  #relay;

  /** @param {import('./local-control.js').LocalControl | undefined} control */
  constructor(control) {
    super();
    this.#control = control;
    for (const id of ['kill-relay', 'drain']) setHidden(id, !control);
    this.#kill.addEventListener('click', () => void this.#act(() => this.#killRelay()));
    this.#drain.addEventListener(
      'click',
      () => void this.#act(() => this.#setDrained(this.#subject.cluster ?? '', !this.#isDrained())),
    );
    this.#restart.addEventListener('click', () => void this.#act(() => this.#restartIce()));
    this.#transport.addEventListener('click', () => void this.#act(() => this.#switchTransport()));
  }

  /** @param {import('./call.js').Call} call A new one. */
  watch(call) {
    this.#relay = undefined;
    this.#gap = undefined;
    call.sound.addEventListener('gap', (event) => {
      if (!(event instanceof CustomEvent) || call.source !== 'tone' || !this.#gap) return;
      this.#say(`The sound was gone for ${formatMs(event.detail)}, and is back.`);
    });
    this.showGap(call);
  }

  /** @param {Subject} subject */
  show(subject) {
    this.#subject = subject;
    const { call, entry, cluster } = subject;
    const isLive = call?.state === 'live' || call?.state === 'interrupted';
    setText('kill-relay', isLive && entry ? `Kill the relay in ${entry}` : 'Kill its relay');
    setText(
      'drain',
      cluster ? `${this.#isDrained() ? 'Put back' : 'Drain'} ${cluster}` : 'Drain its region',
    );
    setText('switch-transport', this.#isOverTcp() ? 'Back to UDP' : 'Switch to TCP');
    this.#kill.disabled = !isLive || !entry;
    this.#drain.disabled = !cluster;
    this.#restart.disabled = !isLive;
    this.#transport.disabled = !isLive;
    this.#offerBack();
    this.#tellRelay(call);
  }

  /** A button for each region that drains, but the one whose button there is already. */
  #offerBack() {
    const { regions, cluster } = this.#subject;
    const drained = regions.filter(
      ({ region, state }) => state === 'draining' && region !== cluster,
    );
    const names = this.#control ? drained.map(({ region }) => region) : [];
    if (names.join() === this.#offered) return;
    this.#offered = names.join();
    this.#putBack.replaceChildren(
      ...names.map((region) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = `Put back ${region}`;
        button.addEventListener(
          'click',
          () => void this.#act(() => this.#setDrained(region, false)),
        );
        return button;
      }),
    );
  }

  /** @param {import('./call.js').Call} call */
  showGap({ source, sound }) {
    const isKnown = source === 'tone' && this.#gap !== undefined && sound.longest > 0;
    const text = isKnown ? formatMs(sound.longest) : NO_GAP;
    setText('gap', text);
    byId('gap', HTMLElement).classList.toggle('audible', isKnown && sound.longest >= AUDIBLE_GAP);
    if (this.#gap) this.#gap.textContent = isKnown ? `longest gap since ${text}` : '';
  }

  /** @param {() => Promise<void>} action */
  async #act(action) {
    // A button that is disabled while it works would lose the keyboard's focus.
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.dispatchEvent(new Event('act'));
    this.#subject.call?.sound.reset();
    try {
      await action();
    } catch (error) {
      const { message, detail } = asCallError(error);
      this.#say(`${message}: ${detail}`);
    } finally {
      this.#isBusy = false;
    }
  }

  async #killRelay() {
    const { entry = '' } = this.#subject;
    this.#begin(
      `Killing the relay in ${entry} with SIGKILL. It knows nothing of your call afterwards.`,
    );
    this.#setDown(entry);
    try {
      const { killed, started, ms } = (await this.#control?.killRelay(entry)) ?? {};
      const next = `process ${killed} is dead; ${started} took its place after ${formatMs(ms ?? 0)}`;
      this.#say(`In ${entry}, ${next}. The browser's next check brings your flow back.`);
    } finally {
      this.#setDown(undefined);
    }
  }

  /**
   * @param {string} region
   * @param {boolean} isDrained
   */
  async #setDrained(region, isDrained) {
    const { call, place } = this.#subject;
    this.#begin(
      isDrained ? `Draining ${region}: it gets no new calls.` : `Putting ${region} back.`,
    );
    await this.#control?.drain(region, isDrained);
    const { sentence } = await askWhere(place);
    this.#say(`${call ? 'Your call stays where it is. ' : ''}${sentence}`);
    this.dispatchEvent(new Event('steering'));
  }

  async #restartIce() {
    this.#begin(
      'Restarting ICE: the browser finds a path anew, by the relays that are nearest now.',
    );
    await this.#subject.call?.restartIce();
    this.#say('The edge has answered with fresh credentials; the call is the same.');
    this.dispatchEvent(new Event('steering'));
  }

  async #switchTransport() {
    const transport = this.#isOverTcp() ? 'udp' : 'tcp';
    const name = transport.toUpperCase();
    this.#begin(`Restarting ICE with the ${name} candidates alone, as if nothing else could pass.`);
    await this.#subject.call?.restartIce(transport);
    this.dispatchEvent(new Event('steering'));
  }

  #isDrained() {
    const { regions, cluster } = this.#subject;
    return regions.some(({ region, state }) => region === cluster && state === 'draining');
  }

  #isOverTcp() {
    return this.#subject.call?.relay?.endsWith('/tcp') ?? false;
  }

  /** @param {import('./call.js').Call | undefined} call */
  #tellRelay(call) {
    const relay = call?.relay;
    if (!relay || relay === this.#relay) return;
    this.#say(`Media goes to the relay at ${relay}.`);
    this.#relay = relay;
  }

  /** @param {string | undefined} region */
  #setDown(region) {
    this.down = region;
    this.dispatchEvent(new Event('down'));
  }

  /** @param {string} text What is done now; the gap since is counted in this line. */
  #begin(text) {
    this.#gap = document.createElement('b');
    // It changes all the time, which nobody wants to be read out.
    this.#gap.setAttribute('aria-live', 'off');
    this.#say(text, this.#gap);
  }

  /**
   * @param {string} text
   * @param {...Node} more
   */
  #say(text, ...more) {
    const item = document.createElement('li');
    const time = document.createElement('time');
    time.textContent = new Date().toLocaleTimeString('en-GB');
    item.classList.toggle('action', more.length > 0);
    const words = document.createElement('span');
    words.append(text, ' ', ...more);
    item.append(time, words);
    this.#log.append(item);
    while (this.#log.children.length > MAX_LINES) this.#log.firstElementChild?.remove();
    this.#log.scrollTop = this.#log.scrollHeight;
  }
}
