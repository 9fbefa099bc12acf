import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { BaseUrlSchema } from './base-url.ts';

describe('a base URL', () => {
  test.each([
    'http://127.0.0.1:3480',
    'https://edge.example',
    'https://edge.example/voice/eu',
    'http://[::1]:8787',
  ])('may be %s', (text) => {
    expect(v.is(BaseUrlSchema, text)).toBe(true);
  });

  test.each([
    '',
    'edge.example',
    'ftp://edge.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:edge.example',
    'https://',
    'https://edge.example/',
    'https://edge.example//a',
    'https://edge.example?a=1',
    'https://edge.example/?',
    'https://edge.example#top',
    'https://user:secret@edge.example',
    'https://user@edge.example',
    'https://edge.example\\@other.example',
    ' https://edge.example',
    'https://edge.example\n',
    'https://edge .example',
    'http://127.0.0.1:65536',
    'http://[::1',
  ])('is not %j', (text) => {
    expect(v.is(BaseUrlSchema, text)).toBe(false);
  });

  test('gives the URL it was made for once a path is appended', () => {
    const text = fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string());
    fc.assert(
      fc.property(text, (base) => {
        if (!v.is(BaseUrlSchema, base)) return;
        const url = new URL(`${base}/v1/sessions`);
        expect(url.pathname.endsWith('/v1/sessions')).toBe(true);
        expect([url.search, url.hash, url.username, url.password]).toEqual(['', '', '', '']);
      }),
    );
  });
});
