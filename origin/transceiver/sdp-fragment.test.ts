import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseFragment, writeFragment } from './sdp-fragment.ts';
import { SdpError } from './sdp.ts';

const OWN = { ufrag: 'abcd', password: 'p'.repeat(22) };
const RELAYS = [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }];
const AUDIO = { kind: 'audio', protocol: 'UDP/TLS/RTP/SAVPF', formats: ['111'], mid: '0' };

/** `good` for credentials long enough and for an error of the text; else what went wrong. */
function outcome(fragment: string): unknown {
  try {
    const { ufrag, password } = parseFragment(fragment);
    return ufrag.length >= 4 && password.length >= 22 ? 'good' : { ufrag, password };
  } catch (error) {
    return error instanceof SdpError ? 'good' : error;
  }
}

test('what is written is read', () => {
  expect(parseFragment(writeFragment(OWN, AUDIO, RELAYS))).toEqual(OWN);
  const nameless = writeFragment(OWN, { ...AUDIO, mid: undefined }, RELAYS);
  expect(nameless).not.toContain('mid');
  expect(parseFragment(nameless)).toEqual(OWN);
});

test('credentials may stand in an m-line, and lines end as they like', () => {
  const fragment = `m=audio 9 RTP/AVP 0\na=mid:0\na=ice-ufrag:abcd\na=ice-pwd:${OWN.password}\n`;
  expect(parseFragment(fragment)).toEqual(OWN);
});

test.each([
  ['nothing', '', 'a=ice-ufrag is missing'],
  ['what is no SDP', 'a=mid:0\r\nzzz\r\n', 'line 2 is not'],
  ['no password', 'a=ice-ufrag:abcd\r\n', 'a=ice-pwd is missing'],
  ['a short ufrag', `a=ice-ufrag:abc\r\na=ice-pwd:${OWN.password}\r\n`, '4 to 256 characters'],
])('%s is an error that says so', (_, fragment, message) => {
  expect(() => parseFragment(fragment)).toThrow(message);
});

test('any text gives credentials or an SdpError', () => {
  const line = fc.constantFrom('a=ice-ufrag:', 'a=ice-pwd:', 'm=audio 9 X 0', 'a=mid:0', 'v=0');
  const part = fc.oneof(fc.string({ maxLength: 40 }), line, fc.constantFrom('\r\n', '\n'));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      expect(outcome(parts.join(''))).toBe('good');
    }),
  );
});
