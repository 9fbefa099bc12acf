import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startOneBox } from './one-box.ts';
import { parseRegionConfig } from './region-config.ts';

const FREE = { address: '127.0.0.1', port: 0 };

test('a region that closes before the edge is there stops joining', async () => {
  const config = parseRegionConfig(
    JSON.stringify({
      region: 'eu-central-1',
      cluster: 2,
      relay: { listeners: [FREE], trunk: FREE },
      peers: ['127.0.0.0/8'],
      routes: [],
      routingKeys: `A:${Buffer.alloc(16, 1).toString('base64')}`,
      signingKey: Buffer.alloc(32, 2).toString('base64'),
      signaling: FREE,
      edge: 'http://127.0.0.1:9',
      transceivers: [{ id: 1, trunk: FREE }],
    }),
  );
  const box = await startOneBox(config, pino({ level: 'silent' }));
  const joining = box.join();
  await box.close();
  await expect(joining).resolves.toBeUndefined();
});
