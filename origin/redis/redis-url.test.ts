import { expect, test } from 'vitest';
import { ConfigError } from '../config.ts';
import { REDIS_URL_VARIABLE, redisUrlOf } from './redis-url.ts';

test.each(['redis://127.0.0.1:6379', 'rediss://user:secret@redis.example'])(
  'REDIS_URL may be %j',
  (url) => {
    expect(redisUrlOf({ [REDIS_URL_VARIABLE]: url })).toBe(url);
  },
);

test.each([undefined, ''])('with REDIS_URL as %j there is none', (url) => {
  expect(redisUrlOf({ [REDIS_URL_VARIABLE]: url })).toBeUndefined();
});

test.each(['secret', 'secret:6379', 'http://secret.example/', 'redis://secret:99999'])(
  'REDIS_URL %j is refused by name, and not shown',
  (url) => {
    const read = (): unknown => redisUrlOf({ [REDIS_URL_VARIABLE]: url });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow('REDIS_URL is not a URL of a Redis');
    expect(read).not.toThrow('secret');
  },
);
