/** A deployment while calls are set up: objects end, links are cut, and no transceiver has come back yet. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  OFFER,
  openCallStage,
  TRANSCEIVER,
  willing,
  type CallStage,
} from './testing/call-stage.ts';

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
  stage.origin.behave(willing);
});
afterAll(() => stage.close());

function start() {
  return stage.edge.fetch('/v1/calls', {
    method: 'POST',
    body: OFFER,
    headers: { 'content-type': 'application/sdp' },
  });
}

it('does not stop calls from starting, and those that run still end', async () => {
  const before = await start();
  expect(before.status).toBe(201);
  await before.text();
  await stage.edge.deploy();
  await vi.waitFor(() => expect(stage.edge.links()).toBe(0));
  const after = await start();
  expect(after.status).toBe(201);
  expect(after.headers.get('relay-path')).toContain(`transceiver=${TRANSCEIVER}`);
  await after.text();
  const ended = await stage.edge.fetch(before.headers.get('location')!, { method: 'DELETE' });
  expect(ended.status).toBe(200);
  expect(stage.origin.requests.map(({ claims }) => claims.op)).toEqual(['create', 'create', 'end']);
});
