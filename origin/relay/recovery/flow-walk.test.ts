import { describe, expect, it } from 'vitest';
import { FLOW_LIMITS, flowMemory } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { ask, client, header, prove, token } from '../testing/flows.ts';
import { flowName } from './flow-records.ts';
import { FlowWalk } from './flow-walk.ts';

const NOW = 1_000_000;
const INTERVAL = 600;
const MANY = 1_000;

function setUp() {
  const memory = flowMemory({ ...FLOW_LIMITS, maxFlows: 100, idle: 1000 });
  const walk = new FlowWalk(memory, INTERVAL);
  /** What a walk over so many places visits: names and tokens. */
  const visits = (places = walk.length, now = NOW, flows = MANY) => {
    const seen: [string, string][] = [];
    walk.advance(places, flows, now, (of, ufrag) =>
      seen.push([flowName(of, 0), Buffer.from(ufrag).toString('latin1', 0, 23)]),
    );
    return seen;
  };
  return { table: new FlowTable(memory), walk, visits };
}

/** What a visit to the flow should give. */
function visit(of: Buffer, n: number): [string, string] {
  return [flowName(of, 0), token(n).toString('latin1', 0, 23)];
}

/** The visits to the flows of these ports, each with the token of its number. */
function ports(...of: number[]): [string, string][] {
  return of.map((port) => visit(client(port), port));
}

describe('A walk over the flows', () => {
  it('visits nobody in an empty table', () => {
    expect(setUp().visits(10)).toEqual([]);
  });

  it('visits each proven flow once, with its key and token', () => {
    const { table, walk, visits } = setUp();
    const flows = [client(1), client(2, '2001:db8::2'), header({ listener: 200 })];
    for (const [n, of] of flows.entries()) prove(table, of, n, NOW);
    expect(walk.length).toBe(3);
    expect(visits()).toEqual(flows.map((of, n) => visit(of, n)));
    expect(visits()).toEqual([]);
  });

  it('visits a flow again after the interval, when it has changed, and when told to forget', () => {
    const { table, walk, visits } = setUp();
    prove(table, client(1), 1, NOW);
    prove(table, client(2), 2, NOW);
    expect(visits()).toHaveLength(2);
    prove(table, client(1), 0x1_00_01, NOW);
    expect(visits()).toEqual([visit(client(1), 0x1_00_01)]);
    expect(visits(2, NOW + INTERVAL - 1)).toEqual([]);
    expect(visits(2, NOW + INTERVAL)).toHaveLength(2);
    walk.forget();
    expect(visits(2, NOW + INTERVAL)).toHaveLength(2);
  });

  it('goes on where it was, whichever limit it came to', () => {
    const { table, visits } = setUp();
    for (let port = 1; port <= 5; port++) prove(table, client(port), port, NOW);
    expect(visits(2)).toEqual(ports(1, 2));
    expect(visits(MANY, NOW, 1)).toEqual(ports(3));
    expect(visits(MANY, NOW, 0)).toEqual([]);
    expect(visits(0)).toEqual([]);
    expect(visits(MANY)).toEqual(ports(4, 5));
  });

  it('passes by tentative flows and those whose time is over', () => {
    const { table, visits } = setUp();
    ask(table, client(1), 1, NOW);
    prove(table, client(2), 2, NOW);
    prove(table, client(3), 3, NOW + 500);
    expect(visits(3, NOW + 1000)).toEqual([visit(client(3), 3)]);
  });

  it('passes by a flow whose words do not belong together', () => {
    const memory = flowMemory({ ...FLOW_LIMITS, maxFlows: 100 });
    prove(new FlowTable(memory), client(1), 1, NOW);
    const words = new Int32Array(memory.flows);
    const walk = new FlowWalk(memory, 0);
    const seen: string[] = [];
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!;
      words[i] = word ^ 0x0100;
      walk.advance(1, 1, NOW, (of, ufrag) =>
        seen.push(flowName(of, 0) + Buffer.from(ufrag).toString('latin1', 0, 23)),
      );
      words[i] = word;
    }
    expect(new Set(seen)).toEqual(new Set([visit(client(1), 1).join('')]));
    // The key, the three words of the route, the seal, the state and the token.
    expect(seen.length).toBeLessThanOrEqual(words.length - 18);
  });
});
