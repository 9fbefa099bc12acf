import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { REDIS_URL_VARIABLE, RELAY_CONFIG_VARIABLE, readRelayConfig } from './relay-config.ts';
import { relayConfig } from './relay/testing/relay-command.ts';

async function readWith(url: string | undefined) {
  const json = JSON.stringify(await relayConfig());
  return readRelayConfig([], { [RELAY_CONFIG_VARIABLE]: json, [REDIS_URL_VARIABLE]: url });
}

test.each([undefined, '', 'redis://127.0.0.1:6379', 'rediss://user:secret@redis.example'])(
  'REDIS_URL may be %j',
  async (url) => {
    await expect(readWith(url)).resolves.toMatchObject({ cluster: 1 });
  },
);

test.each(['secret', 'secret:6379', 'http://secret.example/', 'redis://secret:99999'])(
  'REDIS_URL %j is refused by name, and not shown',
  async (url) => {
    const refusal: unknown = await readWith(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect(String(refusal)).toMatch(/^ConfigError: REDIS_URL is not a URL of a Redis/);
    expect(String(refusal)).not.toContain('secret');
  },
);
