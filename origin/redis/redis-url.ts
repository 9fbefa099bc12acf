import { ConfigError } from '../config.ts';

/** The environment variable with the address of Redis, which may hold a password. */
export const REDIS_URL_VARIABLE = 'REDIS_URL';

/** @throws Error that does not show the text, which may hold a password, when it is no URL of a Redis. */
export function requireRedisUrl(text: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new Error('is not a URL of a Redis, as redis://user:password@redis.example:6379');
  }
}

/**
 * The URL in {@link REDIS_URL_VARIABLE}; an empty one counts as none.
 *
 * @throws ConfigError
 */
export function redisUrlOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const url = env[REDIS_URL_VARIABLE];
  if (!url) return undefined;
  try {
    requireRedisUrl(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${REDIS_URL_VARIABLE} ${reason}`);
  }
  return url;
}
