/**
 * Whether the process of this container lives, for runtimes that ask by a command: ends with 0 or 1. It asks
 * the admin server at the URL in ADMIN_URL, else where those of a relay and of a transceiver usually are.
 */
import process from 'node:process';

const USUAL = ['http://127.0.0.1:9478', 'http://127.0.0.1:9500'];

/** Milliseconds for an answer; less than runtimes wait. */
const PATIENCE = 5_000;

const { ADMIN_URL } = process.env;
const asked = (ADMIN_URL ? [ADMIN_URL] : USUAL).map(requireHealth);
try {
  await Promise.any(asked);
  process.exit(0);
} catch (error) {
  const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error];
  console.error(reasons.map(String).join('\n'));
  process.exit(1);
}

async function requireHealth(url: string): Promise<void> {
  const { status } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PATIENCE) });
  if (status !== 200) throw new Error(`${url}/healthz answers ${status}`);
}
