/**
 * Kinds of tests: units in Node, the relay’s over its other back end, units in workerd, what is written for other
 * programs, whole systems.
 */
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/closing-line.ts';

// Miniflare would fetch a request.cf from the network otherwise.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';
process.env.WRANGLER_SEND_METRICS = 'false';
process.env.WRANGLER_HIDE_BANNER = 'true';
// Required secrets come from TEST_SECRETS, of which its warning knows nothing.
process.env.WRANGLER_LOG = 'error';

/** Milliseconds a test may take before it counts as hung; a starved machine is slow, not wrong. */
const UNIT_TIMEOUT = 60_000;
const SYSTEM_TIMEOUT = 120_000;

/** Terraform, Kubernetes and the scripts of machines: they start no system. */
const DEPLOYMENT_TESTS = 'test/{boot,kubernetes,terraform}/**/*.test.ts';

/** The networks that drills and tests make calls over: units as those beside the code. */
const NETWORK_TESTS = 'test/network/**/*.test.ts';

/** Keys of tests in workerd; a deployment has its own as secrets. */
const TEST_SECRETS = {
  ROUTING_KEYS: `A:${Buffer.alloc(16, 'routing').toString('base64')}`,
  SIGNING_KEY: Buffer.alloc(32, 'signing').toString('base64'),
  CLIENT_SECRET_KEYS: `A:${Buffer.alloc(32, 'secrets').toString('base64')}`,
};

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    // Most tests wait for others most of the time.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: [
            '{protocol,regions,origin,local,bench}/**/*.test.ts',
            'workers/**/*.node.test.ts',
            NETWORK_TESTS,
          ],
          testTimeout: UNIT_TIMEOUT,
          hookTimeout: UNIT_TIMEOUT,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'dgram',
          environment: 'node',
          testTimeout: UNIT_TIMEOUT,
          hookTimeout: UNIT_TIMEOUT,
          // Where the system has batched calls, the node project runs these over them.
          include: ['origin/relay/relay*.test.ts'],
          env: { RELAY_IO: 'dgram' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: TEST_SECRETS },
          }),
        ],
        test: {
          name: 'workerd',
          include: ['{protocol,workers}/**/*.test.ts'],
          exclude: ['**/*.node.test.ts'],
          // A fresh worker per file would take five times as long as the tests themselves.
          isolate: false,
          testTimeout: UNIT_TIMEOUT,
          hookTimeout: UNIT_TIMEOUT,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'deployment',
          environment: 'node',
          include: [DEPLOYMENT_TESTS],
          testTimeout: SYSTEM_TIMEOUT,
          hookTimeout: SYSTEM_TIMEOUT,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          environment: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [DEPLOYMENT_TESTS, NETWORK_TESTS],
          testTimeout: SYSTEM_TIMEOUT,
          hookTimeout: SYSTEM_TIMEOUT,
          // Each file starts the whole system with real browsers; two at once would starve each other.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
