/** Workers KV that is away, or newer: the real one keeps what it read for half a minute, and cannot be made to fail. */
import { vi } from 'vitest';

const list = () => Promise.resolve({ keys: [], list_complete: true });

/** A namespace whose every key has this text, and which lists none. @param text May throw. */
export function storing(text: () => string | null) {
  const get = vi.fn<() => Promise<string | null>>(async () => text());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of KV is not used
  return { get, namespace: { get, list } as unknown as KVNamespace };
}
