/** What waits to be said stays within bounds, in whatever pieces it comes. */
import { expect, test } from 'vitest';
import { openCodec } from './open-codec.ts';
import { MAX_PIECES, VoiceOut } from './voice-out.ts';

const silent = { frame: () => undefined, started: () => undefined, stopped: () => undefined };

const of = (i: number) => ({ response: `r${i >> 1}`, item: 'item', content: 0 });

test('no more pieces wait than frames could, however small they are', async () => {
  const out = new VoiceOut(await openCodec('pcmu'), silent);
  for (let i = 0; i < MAX_PIECES; i++) expect(out.push(of(i), new Uint8Array(1))).toBe(true);
  expect(out.push(of(0), new Uint8Array(1))).toBe(false);
  const cut = out.cut();
  expect(cut).toHaveLength(MAX_PIECES / 2);
  expect(cut.at(-1)).toEqual({ ...of(MAX_PIECES - 1), playedMs: 0 });
  expect(out.push(of(0), new Uint8Array(1))).toBe(true);
});
