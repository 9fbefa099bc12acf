import { expect, it } from 'vitest';
import { pointOf, type RequestRecord } from './request-log.ts';

const PATH = 'colo="FRA", cluster="eu-west-3", ingress="eu-central-1", transceiver=31';

const RECORD: RequestRecord = {
  message: 'request',
  requestId: 'r-1',
  method: 'POST',
  route: '/v1/calls',
  status: 201,
  duration: 31,
  tenant: 'acme',
  by: 'client-secret',
  colo: 'FRA',
  country: 'DE',
  path: PATH,
  basis: 'coordinates',
  stages: { steer: 0.1, roster: 2, mint: 0.2, forward: 25, answer: 3, admit: 4 },
  version: 'v-1',
};

it('a data point has its fields where queries look for them', () => {
  const placed = { colo: 'FRA', cluster: 'eu-west-3', ingress: 'eu-central-1', transceiver: 31 };
  expect(pointOf(RECORD, placed)).toEqual({
    indexes: ['acme'],
    blobs: [
      '/v1/calls',
      '201',
      'FRA',
      'DE',
      PATH,
      'v-1',
      'r-1',
      'eu-west-3',
      'eu-central-1',
      'coordinates',
    ],
    doubles: [31, 0.1, 2, 0.2, 25, 3, 4],
  });
});

it('what is not known keeps its place empty', () => {
  const unknown = {
    tenant: undefined,
    colo: undefined,
    path: undefined,
    basis: undefined,
    version: undefined,
  };
  const point = pointOf({ ...RECORD, ...unknown, stages: { steer: 1 } }, undefined);
  expect(point).toEqual({
    indexes: [''],
    blobs: ['/v1/calls', '201', '', 'DE', '', '', 'r-1', '', '', ''],
    doubles: [31, 1, -1, -1, -1, -1, -1],
  });
});
