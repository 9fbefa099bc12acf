import { afterEach, expect, it, vi } from 'vitest';
import { Admission } from './admission.ts';
import type { EdgeContext } from './edge.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

// An object that cannot be reached is not to be had in workerd; these stand for one, and for a request.
function ask(admit: () => Promise<boolean>): Admission | undefined {
  const tenant = { keys: [], callsPerMinute: 60, concurrentCalls: 1 };
  const caller = { name: 'acme', tenant, by: 'nothing' };
  const context = {
    env: { TENANT_CALLS: { getByName: () => ({ admit, move: admit, release: admit }) } },
    get: (name: string) => (name === 'caller' ? caller : 'request-1'),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a request is not used
  return Admission.ask(context as unknown as EdgeContext, { call: 'a', cluster: 1 });
}

it.each([
  ['fails', () => Promise.reject(new Error('the object is away'))],
  ['never answers', () => new Promise<boolean>(() => undefined)],
])('a call is taken when the object that counts %s, and the log says so', async (_, admit) => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const admission = ask(admit)!;
  expect(await admission.granted).toBe(true);
  expect(logged).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      message: expect.stringContaining('TENANT_CALLS'),
      requestId: 'request-1',
      tenant: 'acme',
    }),
  );
  await admission.move({ call: 'b', cluster: 1 });
  await admission.giveBack();
  expect(logged).toHaveBeenCalledTimes(3);
});

it('a call is refused when the object says no', async () => {
  const admit = vi.fn<() => Promise<boolean>>(() => Promise.resolve(false));
  const admission = ask(admit)!;
  expect(await admission.granted).toBe(false);
  await admission.giveBack();
  expect(admit).toHaveBeenCalledTimes(1);
});
