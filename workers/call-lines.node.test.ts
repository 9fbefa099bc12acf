// The log's line of a call, by HTTP and by WebSocket. The origin speaks the signed contract and makes no media.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { OFFER, openCallStage, willing, type CallStage } from './testing/call-stage.ts';

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));

/** The line of that request, once it is there. */
function lineOf(message: string, requestId: string): Promise<string> {
  return vi.waitFor(() => {
    const lines = stage.edge.logs().split(/(?=^\{)/m);
    const found = lines.find((line) => line.includes(requestId) && line.includes(message));
    if (found === undefined) throw new Error(`no ${message} of ${requestId} yet`);
    return found;
  });
}

/** What a line of a placed call must tell and does not. */
function missingIn(line: string, route: string): RegExp[] {
  return [
    new RegExp(`route: '${route}'`),
    /status: 201/,
    /tenant: 'public'/,
    /by: 'nothing'/,
    /cluster="eu-central-1", ingress="us-east-1", transceiver=21/,
    /steer: \d/,
    /roster: \d/,
    /mint: \d/,
    /forward: \d/,
    /basis: '[a-z]+'/,
    /version: '[^']+'/,
  ].filter((part) => !part.test(line));
}

it('tells what was decided, how long each stage took, and by which version', async () => {
  const requestId = `posted-${randomBytes(8).toString('hex')}`;
  const headers = { 'content-type': 'application/sdp', 'x-request-id': requestId };
  const response = await stage.edge.fetch('/v1/calls', { method: 'POST', headers, body: OFFER });
  await response.text();
  expect(missingIn(await lineOf("message: 'request'", requestId), '/v1/calls')).toEqual([]);
  expect(stage.origin.requests.map((request) => request.requestId)).toEqual([requestId]);
});

it('is one for each offer by WebSocket', async () => {
  const requestId = `offered-${randomBytes(8).toString('hex')}`;
  const headers = { 'x-request-id': requestId };
  const socket = new WebSocket(`${stage.edge.url.replace('http', 'ws')}/v1/signal`, { headers });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'offer', sdp: OFFER }));
  await once(socket, 'message');
  expect(missingIn(await lineOf("message: 'offer'", requestId), '/v1/signal')).toEqual([]);
  socket.terminate();
});
