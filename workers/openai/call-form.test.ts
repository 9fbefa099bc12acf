import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as v from 'valibot';
import { SessionSchema } from '../../protocol/session-config.ts';
import { readCallForm } from './call-form.ts';
import { ClientSecretRequestSchema } from './client-secret-request.ts';

const BOUNDARY = 'b';

const readForm = (body: string | Uint8Array, boundary = BOUNDARY) =>
  readCallForm(
    new Request('https://edge.test/', {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
    }),
  );

const part = fc
  .record({
    name: fc.constantFrom('sdp', 'session', 'sdp"', '', 'x'),
    file: fc.constantFrom('', '; filename="x"', "; filename*=UTF-8''x"),
    type: fc.constantFrom('', 'content-type: application/json\r\n', 'content-type: \r\n', 'x\r\n'),
    end: fc.constantFrom('\r\n', '\n', ''),
    body: fc.oneof(
      fc.constantFrom('v=0\r\n', '{}', '[]', '{"type":"realtime"}', '--b', '\r\n--b--\r\n'),
      fc.json(),
      fc.string({ unit: 'binary' }),
    ),
  })
  .map(
    ({ name, file, type, end, body }) =>
      `--${BOUNDARY}${end}content-disposition: form-data; name="${name}"${file}\r\n${type}\r\n${body}\r\n`,
  );

/** A form with an offer and, perhaps, something that is a session or nearly one. */
const goodForm = fc
  .record({
    type: fc.constantFrom('', 'content-type: application/sdp\r\n'),
    file: fc.constantFrom('', '; filename="x"'),
    session: fc.option(fc.oneof(fc.constantFrom('{}', '{"type":"realtime"}'), fc.json())),
  })
  .map(({ type, file, session }) => {
    const partOf = (name: string, body: string) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${type}\r\n${body}\r\n`;
    const asked = session === null ? '' : partOf('session', session);
    return `${partOf('sdp', 'v=0\r\n')}${asked}--${BOUNDARY}--\r\n`;
  });

it('gives an offer with a fit session, or a problem, of whatever form', async () => {
  const forms = fc.oneof(
    goodForm,
    fc.array(part, { maxLength: 4 }).map((parts) => `${parts.join('')}--${BOUNDARY}--\r\n`),
    fc.array(part, { maxLength: 2 }).map((parts) => parts.join('')),
    fc.string(),
  );
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(forms, async (body) => {
      const form = await readForm(body);
      seen.add(form instanceof Response ? form.status : 200);
      if (form instanceof Response) return [400, 413].includes(form.status);
      return form.offer.startsWith('v=0') && v.is(v.optional(SessionSchema), form.session);
    }),
    { numRuns: 500 },
  );
  expect(seen).toEqual(new Set([200, 400]));
});

it('takes any bytes and any boundary', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.stringMatching(/^[ -~]{0,80}$/),
      async (body, boundary) => (await readForm(body, boundary)) instanceof Response,
    ),
  );
  expect(await readForm(new Uint8Array(0))).toBeInstanceOf(Response);
});

it('a request for a client secret may be any JSON', () => {
  const nearly = fc.record(
    {
      expires_after: fc.oneof(
        fc.jsonValue(),
        fc.record({ anchor: fc.jsonValue(), seconds: fc.jsonValue() }),
      ),
      session: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), nearly), (value) => {
      const result = v.safeParse(ClientSecretRequestSchema, value);
      const seconds = result.success ? result.output.expires_after.seconds : 600;
      expect(seconds).toBeGreaterThanOrEqual(10);
      expect(seconds).toBeLessThanOrEqual(7200);
    }),
  );
});
