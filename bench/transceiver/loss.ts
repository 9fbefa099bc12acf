/** Whether Chromium's calls connect over a path that loses and reorders. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Browser } from 'puppeteer-core';
import { openStage, type Stage } from '../../origin/transceiver/testing/stage.ts';
import { ImpairedPath } from '../../test/network/impaired-path.ts';
import { launchChromium } from '../../test/support/chromium.ts';
import { atLeast, type Bar } from './bench.ts';

const LOOPBACK = '127.0.0.1';
const CALLS = 32;
const NETWORK = { loss: 0.1, reordered: 0.3 };

/** What the impairments are made from. */
const SEED = 20_260;

/** Milliseconds after which a person has hung up. */
const PATIENCE = 15_000;

/** As text, so that no tool rewrites it: an offer of audio and data, kept with its connection. */
const OFFER = `(async () => {
  const peer = (globalThis.peer = new RTCPeerConnection());
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  for (const track of microphone.getTracks()) peer.addTrack(track, microphone);
  globalThis.channel = peer.createDataChannel('oai-events');
  await peer.setLocalDescription();
  return peer.localDescription.sdp;
})()`;

/** Milliseconds until the data channel was open and audio had come back, or -1. */
const connectWith = (answer: string) => `(async () => {
  const start = performance.now();
  await peer.setRemoteDescription({ type: 'answer', sdp: ${JSON.stringify(answer)} });
  const heard = async () => [...(await peer.getStats()).values()]
    .some((it) => it.type === 'inbound-rtp' && it.packetsReceived > 0);
  while (channel.readyState !== 'open' || !(await heard())) {
    if (performance.now() - start > ${PATIENCE}) return -1;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return performance.now() - start;
})()`;

export async function benchLoss(log: (line: string) => void) {
  await using stage = await openStage({ capacity: CALLS });
  await using path = await ImpairedPath.open(stage.relay.candidate, NETWORK, SEED);
  // A microphone needs a secure context, which a page of this machine is.
  const server = createServer((_request, response) => response.end('<p>A call')).listen(
    0,
    LOOPBACK,
  );
  await once(server, 'listening');
  using resources = new DisposableStack();
  resources.defer(() => void server.close());
  const origin = originOf(server);
  const browser = await launchChromium();
  try {
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) {
      const time = await callOnce(browser, origin, stage, path);
      log(`call ${i + 1}: ${time < 0 ? 'not connected' : `${time.toFixed(0)} ms`}`);
      times.push(time);
    }
    const connected = times.filter((time) => time >= 0).toSorted((a, b) => a - b);
    const median = connected[Math.floor(connected.length / 2)];
    const figures = {
      calls: CALLS,
      connected: connected.length,
      median,
      slowest: connected.at(-1),
    };
    const bars: Bar[] = [atLeast(`of ${CALLS} Chromium calls, connected`, connected.length, CALLS)];
    return { figures, bars };
  } finally {
    await browser.close();
  }
}

function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://${LOOPBACK}:${address.port}`;
}

async function callOnce(browser: Browser, origin: string, stage: Stage, path: ImpairedPath) {
  const page = await browser.newPage();
  try {
    await page.goto(origin);
    const offer = await page.evaluate<[], () => Promise<string>>(OFFER);
    const relay = { ...stage.relay.candidate, ...path.address };
    const { answer, call } = stage.create(offer, { relays: [relay] });
    const time = await page.evaluate<[], () => Promise<number>>(connectWith(answer));
    stage.transceiver.end(call, 'acme');
    return time;
  } finally {
    await page.close();
  }
}
