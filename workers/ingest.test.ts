import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sendingOnly } from './ingest.ts';

const sdp = (...lines: string[]) => ['v=0', 's=-', ...lines, ''].join('\r\n');

/** What was made to send only stays as it is. */
function isFinal(lines: readonly string[]): boolean {
  const result = sendingOnly(lines.join('\n'));
  return result === undefined || sendingOnly(result) === result;
}

describe('an offer to ingest', () => {
  it('says sendonly wherever it said or meant sendrecv', () => {
    const data = 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel';
    const audio = ['m=audio 9 X 1', 'a=sendrecv', 'a=mid:0'];
    const offer = [...audio, 'm=video 9 X 2', 'a=mid:1', data, 'a=mid:2'];
    expect(sendingOnly(sdp(...offer))).toBe(
      sdp(
        'm=audio 9 X 1',
        'a=sendonly',
        'a=mid:0',
        'm=video 9 X 2',
        'a=mid:1',
        'a=sendonly',
        data,
        'a=mid:2',
      ),
    );
    const sending = sdp('m=audio 9 X 1', 'a=sendonly');
    expect(sendingOnly(sending)).toBe(sending);
    expect(sendingOnly('v=0\nm=audio 9 X 1')).toBe('v=0\nm=audio 9 X 1\r\na=sendonly\r\n');
  });

  it.each([
    ['receives', ['m=audio 9 X 1', 'a=recvonly']],
    ['rests', ['m=audio 9 X 1', 'a=inactive']],
    ['receives as a whole', ['a=recvonly', 'm=audio 9 X 1']],
    ['receives video', ['m=audio 9 X 1', 'a=sendonly', 'm=video 9 X 2', 'a=recvonly']],
    ['has no media', []],
    ['sends two sounds', ['m=audio 9 X 1', 'a=sendonly', 'm=audio 9 X 1', 'a=sendonly']],
    ['sends two pictures', ['m=video 9 X 1', 'm=audio 9 X 1', 'm=video 0 X 1', 'a=bundle-only']],
    ['takes all its media out', ['m=audio 0 X 1', 'a=sendonly']],
    ['has data alone', ['m=application 9 X 1']],
  ])('is refused when it %s', (_, lines) => {
    expect(sendingOnly(sdp(...lines))).toBeUndefined();
  });

  it('may have taken media out, which says nothing of directions', () => {
    const offer = sdp('m=audio 0 X 1', 'a=inactive', 'm=audio 9 X 1', 'a=sendonly');
    expect(sendingOnly(offer)).toBe(offer);
  });

  it('may be any text', () => {
    const line = oneof(
      constantFrom('m=audio 9 X 1', 'a=sendrecv', 'a=recvonly', 'a=sendonly', '\n', '\r\n'),
      string(),
    );
    expect(() => assert(property(array(line), isFinal))).not.toThrow();
  });
});
