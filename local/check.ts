/** `npm start -- --check`: one scripted call per active region through the real path, and what it took. */
import { reasonsOf } from '../origin/reasons.ts';
import { placeOfRegion } from './place.ts';
import { candidateOf } from './region-handle.ts';
import { scriptedCall, type ScriptedCallResult } from './scripted-call.ts';
import type { Stack } from './stack.ts';
import { formatTable } from './table.ts';

/** Columns of the table; times are milliseconds since the offer was sent. */
const HEADER = [
  'region',
  'path',
  'answer',
  'ICE',
  'DTLS',
  'channel',
  'echo',
  'audio',
  'tone',
  'edge: steer+roster+mint / forward / origin',
];

/** True when every active region, and there is one, took a call from its own place and gave the tone back. */
export async function checkStack(stack: Stack, print: (line: string) => void): Promise<boolean> {
  const rows: string[][] = [];
  const failures: string[] = [];
  const names = [...stack.regions.keys()];
  const active = names.filter((name) => stack.footprint[name]!.state === 'active');
  for (const name of active) {
    try {
      const result = await checkedCall(stack, name);
      rows.push(rowOf(name, result));
    } catch (error) {
      failures.push(`${name}: ${reasonsOf(error)}`);
    }
  }
  if (rows.length > 0) {
    print(`\nOne call per active region, in milliseconds since the offer was sent:\n`);
    print(formatTable([HEADER, ...rows]));
  }
  for (const failure of failures) print(`\nFAILED ${failure}`);
  for (const name of names.filter((it) => !active.includes(it))) {
    print(`\n${name} skipped: ${stack.footprint[name]!.state}`);
  }
  if (active.length === 0) {
    print('\nFAILED: no region is active, so no call can be made; set `state: active` in one.');
    return false;
  }
  print(`\n${active.length - failures.length} of ${active.length} calls got through.`);
  return failures.length === 0;
}

async function checkedCall(stack: Stack, name: string): Promise<ScriptedCallResult> {
  const region = stack.regions.get(name)!;
  const place = placeOfRegion(stack.footprint[name]!);
  const result = await scriptedCall({ edge: stack.edge, place });
  const { cluster, ingress } = result.path;
  if (cluster !== name || ingress !== name) {
    throw new Error(`the call went to ${cluster} by way of ${ingress}, which is not the nearest`);
  }
  const expected = region.relays.map(candidateOf).join(' ');
  const actual = result.candidates.join(' ');
  if (actual !== expected) {
    throw new Error(`the answer has the candidates ${actual || '(none)'}, not ${expected}`);
  }
  return result;
}

function rowOf(name: string, { stages, serverTiming, path }: ScriptedCallResult): string[] {
  const { steer = 0, roster = 0, mint = 0, forward = 0, answer = 0 } = serverTiming;
  return [
    name,
    `transceiver ${path.transceiver}`,
    ...[
      stages.signaling,
      stages.ice,
      stages.dtls,
      stages.dataChannel,
      stages.dataEcho,
      stages.firstAudio,
      stages.tone,
    ].map((ms) => ms.toFixed(0)),
    [steer + roster + mint, forward, answer].map((ms) => ms.toFixed(1)).join(' / '),
  ];
}
