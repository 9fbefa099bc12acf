/**
 * Makes ioredis take a reply that it cannot handle for what it is, an error of the protocol, and connect
 * anew. By itself it throws such errors where nobody can catch them, and the process would end.
 */
import { createRequire } from 'node:module';

const PATH = 'ioredis/built/DataHandler.js';

/** @throws Error when ioredis is not the version this was written for. */
export function requireStrictReplies(): void {
  const { default: handler }: { default: { prototype: object } } = createRequire(import.meta.url)(
    PATH,
  );
  if (typeof Reflect.get(handler.prototype, 'dispatch') !== 'function') {
    throw new Error(`${PATH} has no dispatch() any more; see where it handles errors of replies.`);
  }
  // What is thrown here is caught around the decoder.
  Reflect.set(handler.prototype, 'dispatch', (handle: () => void) => handle());
}
