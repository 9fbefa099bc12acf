import { describe, expect, it } from 'vitest';
import { relaysFor } from './relays.ts';
import { testTable } from './testing/steering-table.ts';

const [US, EU] = [testTable().clusters[0]!, testTable().clusters[1]!];
const VIP = { address: '198.51.100.1', port: 3478, transport: 'udp' } as const;

describe('relaysFor', () => {
  it('names those of the ingress first, then those of the session’s region', () => {
    expect(relaysFor(EU, US)).toEqual([...EU.relays, ...US.relays]);
    expect(relaysFor(US, EU)).toEqual([...US.relays, ...EU.relays]);
  });

  it('names each once where both are one region, or share their addresses', () => {
    expect(relaysFor(EU, EU)).toEqual(EU.relays);
    const own = EU.relays[0]!;
    const anycast = { ...EU, relays: [VIP, own] };
    expect(relaysFor(anycast, { ...US, relays: [{ ...VIP }] })).toEqual([VIP, own]);
  });

  it('takes another port or transport of one address for another relay', () => {
    const relays = [VIP, { ...VIP, port: 443 }, { ...VIP, transport: 'tcp' } as const];
    expect(relaysFor({ ...EU, relays: [VIP] }, { ...US, relays })).toEqual(relays);
  });
});
