/** A session's side of its back end: nothing that a back end throws goes further than its own call. */
import type { Logger } from 'pino';
import type { Backend, BackendSession, Call, ReceivedAudio } from '../backend/backend.ts';
import { guarded } from './guarded.ts';

export interface SessionBackendOptions {
  readonly backend: Backend;
  readonly call: Call;
  readonly log: Logger;
  /** May be called more than once. */
  readonly failed: (what: string) => void;
}

export class SessionBackend {
  readonly #options: SessionBackendOptions;
  #session: BackendSession | undefined;

  /** Opens the call at the back end. */
  constructor(options: SessionBackendOptions) {
    this.#options = options;
    const { backend, call } = options;
    this.#session = guarded(
      () => backend.open(call),
      (error) => this.#fail(error, 'the back end took no call'),
    );
  }

  audio(packet: ReceivedAudio): void {
    this.#give((session) => session.audio(packet));
  }

  data(label: string, data: string | Uint8Array): void {
    this.#give((session) => session.data(label, data));
  }

  opened(label: string): void {
    this.#give((session) => session.opened?.(label));
  }

  close(): void {
    const { backend, log } = this.#options;
    guarded(
      () => this.#session?.close(),
      (error) => {
        const at = { err: error, backend: backend.name };
        log.error(at, 'the back end failed at the end of a call');
      },
    );
  }

  #give(give: (session: BackendSession) => void): void {
    const session = this.#session;
    if (!session) return;
    guarded(
      () => give(session),
      (error) => this.#fail(error, 'the back end failed'),
    );
  }

  #fail(error: unknown, what: string): void {
    const { backend, log, failed } = this.#options;
    log.error({ err: error, backend: backend.name }, what);
    failed(what);
  }
}
