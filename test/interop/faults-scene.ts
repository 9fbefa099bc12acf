/** `node faults-scene.ts`: Firefox breaks its call by the page's buttons; prints what it saw as JSON. */
import process from 'node:process';
import { startStack } from '../../local/stack.ts';
import { launchFirefox } from '../support/firefox.ts';
import { breakCall } from '../support/page-faults.ts';
import { sessionsOf } from '../support/sessions.ts';
import { until } from '../support/until.ts';
import { TONE_HZ } from './heard.ts';
import { MEDIA_ADDRESS } from './namespace.ts';

const stack = await startStack({ relayAddress: MEDIA_ADDRESS, control: true });
try {
  const browser = await launchFirefox(TONE_HZ);
  try {
    // Without a device for sound Firefox makes no tone itself; its microphone is one.
    const seen = await breakCall(browser, {
      edge: stack.edge,
      source: 'microphone',
      switches: ['tcp', 'udp'],
    });
    await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
    console.log(JSON.stringify(seen));
  } finally {
    await browser.close();
  }
} finally {
  await stack.close();
}
process.exit(0);
