/** What one connection to `/v1/signal` says and hears: at most one call, its messages in their order. */
import { MAX_FRAGMENT_BYTES } from '../../protocol/ice-fragment.ts';
import { problem, type Problem, type ProblemName } from '../../protocol/problem.ts';
import { refuseCaller, refuseStart } from '../authenticate.ts';
import type { EdgeContext } from '../edge.ts';
import { MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import { ANY_ICE, endHeldCall, fragmentTooLarge, patchHeldCall, refOf } from '../held-call.ts';
import { readOffer } from '../offers.ts';
import { placeCall, type PlacedCall } from '../place-call.ts';
import { logOffer } from '../request-log.ts';
import { fragmentOf, readMessage, type ClientMessage, type EdgeMessage } from './messages.ts';

/** Characters of the longest message: an offer, each of its characters escaped by one more. */
export const MAX_MESSAGE = 2 * MAX_OFFER_BYTES;

/** Messages that may wait for those before them. */
export const MAX_WAITING = 64;

/** Problems that a connection may cause, for an offer that is refused costs as much as one that is taken. */
export const MAX_PROBLEMS = 16;

/** Close codes (RFC 6455 §7.4.1). */
const NORMAL = 1000;
const UNSUPPORTED_DATA = 1003;
const POLICY = 1008;
const TOO_BIG = 1009;

export class Conversation {
  readonly #context: EdgeContext;
  readonly #socket: WebSocket;
  #call: string | undefined;
  #waiting = 0;
  #problems = 0;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  /** @param socket One that was accepted. Its end does not end the call, which can be resumed. */
  constructor(context: EdgeContext, socket: WebSocket) {
    this.#context = context;
    this.#socket = socket;
  }

  start(): void {
    this.#socket.addEventListener('message', ({ data }) => this.#take(data));
    this.#socket.addEventListener('close', () => this.#close(NORMAL));
    this.#socket.addEventListener('error', () => (this.#closed = true));
  }

  #take(data: unknown): void {
    if (this.#closed) return;
    if (typeof data !== 'string') return this.#refuse(UNSUPPORTED_DATA, 'Messages are text.');
    if (data.length > MAX_MESSAGE) {
      return this.#refuse(TOO_BIG, `A message has at most ${MAX_MESSAGE} characters.`);
    }
    const message = readMessage(data);
    // It costs the edge nothing, and clients send many at once.
    if (message?.type === 'candidate' && this.#call !== undefined) return;
    if (this.#waiting === MAX_WAITING) {
      return this.#refuse(
        POLICY,
        `Wait for answers: at most ${MAX_WAITING} messages may be ahead.`,
      );
    }
    this.#waiting++;
    this.#last = this.#answerAfter(this.#last, message);
  }

  async #answerAfter(before: Promise<void>, message: ClientMessage | undefined): Promise<void> {
    await before;
    if (!this.#closed) await this.#answer(message);
    this.#waiting--;
  }

  async #answer(message: ClientMessage | undefined): Promise<void> {
    try {
      if (message) await this.#act(message);
      else this.#say(errorOf('malformed-request', 'A message is a JSON object of a known type.'));
    } catch (error) {
      const requestId = this.#context.get('requestId');
      console.error({ message: 'signal failed', requestId, error: String(error) });
      this.#say(errorOf('internal', `It has been logged as request ${requestId}.`));
    }
  }

  async #act(message: ClientMessage): Promise<void> {
    switch (message.type) {
      case 'offer':
        return this.#place(message.sdp);
      case 'resume':
        return this.#resume(message.call);
      case 'restart':
        return this.#withCall((call) => this.#restart(call, message.sdp));
      case 'candidate':
        return this.#withCall(() => Promise.resolve());
      case 'bye':
        return this.#withCall((call) => this.#end(call));
    }
  }

  async #place(sdp: string): Promise<void> {
    if (this.#call !== undefined) return this.#say(HAS_CALL);
    const call = await logOffer(this.#context, () => this.#start(sdp));
    if (call instanceof Response) return this.#sayProblem(call);
    this.#call = call.id;
    const tag = call.etag === undefined ? {} : { etag: call.etag };
    this.#say({ type: 'answer', call: call.id, sdp: call.answer, ...tag });
  }

  /**
   * An offer counts as a start as it does by HTTP, whether or not it is a good one. Who sends it is judged anew, for
   * a connection outlives what it was opened with.
   */
  async #start(sdp: string): Promise<PlacedCall | Response> {
    const refusal = (await refuseCaller(this.#context)) ?? (await refuseStart(this.#context));
    if (refusal) return refusal;
    const offer = readOffer(new TextEncoder().encode(sdp));
    return offer instanceof Response ? offer : placeCall(this.#context, offer);
  }

  #resume(call: string): void {
    if (this.#call !== undefined && this.#call !== call) return this.#say(HAS_CALL);
    if (!refOf(this.#context, call)) {
      return this.#say(errorOf('call-not-found', 'The call has ended, or never was.'));
    }
    this.#call = call;
    this.#say({ type: 'resumed', call });
  }

  async #restart(call: string, sdp: string): Promise<void> {
    const fragment = fragmentOf(sdp);
    const response =
      new TextEncoder().encode(fragment).length > MAX_FRAGMENT_BYTES
        ? fragmentTooLarge()
        : await patchHeldCall(this.#context, call, ANY_ICE, fragment);
    if (response.status !== 200) return this.#sayProblem(response);
    const etag = response.headers.get('etag');
    const ours = await response.text();
    this.#say({ type: 'restarted', fragment: ours, ...(etag === null ? {} : { etag }) });
  }

  async #end(call: string): Promise<void> {
    const response = await endHeldCall(this.#context, call);
    if (response.status !== 200) return this.#sayProblem(response);
    this.#call = undefined;
    this.#say({ type: 'bye' });
    this.#close(NORMAL, 'bye');
  }

  async #withCall(act: (call: string) => Promise<void>): Promise<void> {
    if (this.#call !== undefined) return act(this.#call);
    this.#say(errorOf('conflict', 'There is no call yet: send offer or resume first.'));
  }

  async #sayProblem(response: Response): Promise<void> {
    this.#say({ type: 'error', problem: await response.json<Problem>() });
  }

  #say(message: EdgeMessage): void {
    if (this.#closed) return;
    this.#socket.send(JSON.stringify(message));
    if (message.type === 'error' && ++this.#problems === MAX_PROBLEMS) {
      this.#close(POLICY, `A connection may cause ${MAX_PROBLEMS} problems.`);
    }
  }

  #refuse(code: number, detail: string): void {
    this.#say(errorOf('malformed-request', detail));
    this.#close(code, detail);
  }

  #close(code: number, reason?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close(code, reason);
  }
}

function errorOf(name: ProblemName, detail: string): EdgeMessage {
  return { type: 'error', problem: problem(name, detail) };
}

const HAS_CALL = errorOf('conflict', 'This connection has a call; open another for another.');
