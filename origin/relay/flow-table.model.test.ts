import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOW_LIMITS, flowMemory, type FlowMemory } from './flow-memory.ts';
import { FlowStore } from './flow-store.ts';
import { FlowTable } from './flow-table.ts';
import { PENDING_CHECKS } from './flow.ts';
import { YIELD_AFTER } from './flow-owners.ts';
import { CHECK_LIFETIME } from './pending-checks.ts';
import { client, lookUp, moment, routeOf, token } from './testing/flows.ts';
import { TokenRoute } from './token-route.ts';

const IDLE = 20_000;
const TENTATIVE = 4_000;
const TOKEN_QUIET = 6_000;
const PER_SOURCE = 3;
const PER_TOKEN = 4;
const TURN = 1024;
const LIMITS = {
  ...FLOW_LIMITS,
  maxFlows: 100,
  idle: IDLE,
  tentative: TENTATIVE,
  tokenQuiet: TOKEN_QUIET,
  maxTentativePerSource: PER_SOURCE,
  maxPerToken: PER_TOKEN,
};

interface Asked {
  token: number;
  ids: number[];
  at: number;
}

interface ModelFlow {
  port: number;
  token: number;
  proven: boolean;
  seenAt: number;
  checkedAt: number;
  asked: Asked | undefined;
  /** When another token last came to be the one that asks. */
  turnAt: number;
}

/** The rules of a table, told plainly: a list of flows and no memory to save. */
class Model {
  flows: ModelFlow[] = [];
  readonly #lot: (token: number, turn: number) => number;

  constructor(lot: (token: number, turn: number) => number) {
    this.#lot = lot;
  }

  pass(now: number): void {
    this.flows = this.flows.filter(
      ({ proven, seenAt }) => now - seenAt < (proven ? IDLE : TENTATIVE),
    );
  }

  find(port: number): ModelFlow | undefined {
    return this.flows.find((flow) => flow.port === port);
  }

  check(port: number, by: number, id: number, now: number): string | undefined {
    const flow = this.find(port);
    const asked = { token: by, ids: [id], at: now };
    if (!flow) {
      if (!this.makeRoom((one) => one.token === by, PER_TOKEN, now)) return 'token-limit';
      if (!this.makeRoom(({ proven }) => !proven, PER_SOURCE, now)) return 'tentative-limit';
      const times = { seenAt: now, checkedAt: now, turnAt: now - TURN };
      this.flows.push({ port, token: by, proven: false, asked, ...times });
      return undefined;
    }
    if (flow.proven && flow.token === by) return undefined;
    if (!this.#mayAsk(flow, by, now)) return undefined;
    if (!flow.proven && flow.token !== by) {
      if (!this.makeRoom((one) => one.token === by, PER_TOKEN, now)) return 'token-limit';
      flow.token = by;
      flow.checkedAt = now;
    }
    if (flow.asked?.token === by) {
      flow.asked.ids = [...flow.asked.ids, id].slice(-PENDING_CHECKS);
      flow.asked.at = now;
    } else {
      flow.asked = asked;
      flow.turnAt = now;
    }
    return undefined;
  }

  /** One change of tokens a turn is free; for more, they draw lots. */
  #mayAsk({ asked, turnAt }: ModelFlow, by: number, now: number): boolean {
    const turn = turnOf(now);
    if (!asked || asked.token === by || turnOf(turnAt) !== turn) return true;
    return this.#lot(by, turn) < this.#lot(asked.token, turn);
  }

  /** Where an owner has too many flows, the one that was silent longest yields; tentative ones first. */
  makeRoom(isOwned: (flow: ModelFlow) => boolean, limit: number, now: number): boolean {
    const owned = this.flows.filter(isOwned);
    if (owned.length < limit) return true;
    const [victim] = owned
      .filter(({ seenAt }) => now - seenAt >= YIELD_AFTER)
      .toSorted((a, b) => Number(a.proven) - Number(b.proven) || a.seenAt - b.seenAt);
    this.flows = this.flows.filter((flow) => flow !== victim);
    return victim !== undefined;
  }

  answer(port: number, id: number, now: number): string | undefined {
    const flow = this.find(port);
    const asked = flow?.asked;
    if (!flow || !asked?.ids.includes(id) || now - asked.at > CHECK_LIFETIME) return undefined;
    const change = flow.proven ? 'moved' : 'proven';
    if (change === 'moved' && now - flow.checkedAt < TOKEN_QUIET) return undefined;
    const isOneMore = flow.token !== asked.token;
    if (isOneMore && !this.makeRoom((one) => one.token === asked.token, PER_TOKEN, now)) {
      return undefined;
    }
    if (flow.proven) flow.checkedAt = now;
    Object.assign(flow, { token: asked.token, proven: true, seenAt: now, asked: undefined });
    return change;
  }

  touch(port: number, by: number, now: number): void {
    const flow = this.find(port);
    if (!flow?.proven) return;
    flow.seenAt = now;
    if (flow.token === by) flow.checkedAt = now;
  }
}

function turnOf(now: number): number {
  return Math.floor((now | 0) / TURN);
}

const port = fc.integer({ min: 1, max: 6 });
const by = fc.integer({ min: 1, max: 3 });
const id = fc.integer({ min: 1, max: 3 });
const step = fc.record({
  action: fc.constantFrom('check', 'check', 'answer', 'answer', 'touch', 'expire'),
  port,
  by,
  id,
  /** Never none, so that of two flows one was silent longer. */
  wait: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 8_000 })),
});

function transaction(n: number): Buffer {
  return Buffer.alloc(12, n);
}

function act(table: FlowTable, { action, port: of, by: n, id: i }: Step, now: number): unknown {
  const at = client(of);
  switch (action) {
    case 'check':
      return table.check(at, 0, routeOf(n), token(n), transaction(i), now);
    case 'answer':
      return table.answer(at, 0, transaction(i), moment(now));
    case 'touch':
      if (table.find(at, 0, now, token(n))) table.touch(now);
      return undefined;
    default:
      table.expire(now);
      return undefined;
  }
}

function expectation(model: Model, { action, port: of, by: n, id: i }: Step, now: number): unknown {
  switch (action) {
    case 'check':
      return model.check(of, n, i, now);
    case 'answer':
      return model.answer(of, i, now);
    case 'touch':
      return model.touch(of, n, now);
    default:
      return undefined;
  }
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** With the table's own secret, without which nobody can tell. */
function lotsOf(memory: FlowMemory): (token: number, turn: number) => number {
  const { keyed } = new FlowStore(memory);
  const route = new TokenRoute(keyed);
  return (n, turn) => {
    route.setToken(token(n), 0);
    return keyed.words(Int32Array.of(route.tokenHash, turn), 0, 2);
  };
}

test('whatever happens, the table does as a plain list of its rules', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.nat(2 ** 33), (steps, start) => {
      const memory = flowMemory(LIMITS);
      const table = new FlowTable(memory);
      const model = new Model(lotsOf(memory));
      let now = start;
      for (const one of steps) {
        now += one.wait;
        model.pass(now);
        // Flows that are over count for limits until they are swept, which is done each few moments.
        table.expire(now);
        expect(act(table, one, now)).toEqual(expectation(model, one, now));
        for (let of = 1; of <= 6; of++) {
          const flow = model.find(of);
          const found = lookUp(table, client(of), now, flow?.token);
          expect(found?.transceiver).toBe(flow?.token);
          expect(found?.proven).toBe(flow?.proven);
          expect(found?.hasToken).toBe(flow && true);
        }
      }
      expect(table.proven).toBe(model.flows.filter(({ proven }) => proven).length);
      expect(table.tentative).toBe(model.flows.filter(({ proven }) => !proven).length);
      table.expire(now + IDLE);
      expect([table.proven, table.tentative]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
