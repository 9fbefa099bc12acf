import { Message, classes, methods } from 'werift';
import { expect, test } from 'vitest';
import { checkSuccess } from './check-success.ts';

const ID = Buffer.from('0123456789ab');
const KEY = Buffer.from('VOkJxbRl1RmTxUk/WvJxBt');

test.each([
  { address: '192.0.2.1', port: 32853 },
  { address: '0.0.0.0', port: 1 },
  { address: '2001:db8:1234:5678:11:2233:4455:6677', port: 65_535 },
])('is byte by byte what another writer makes of it: $address', ({ address, port }) => {
  const message = new Message(methods.BINDING, classes.RESPONSE, ID)
    .setAttribute('XOR-MAPPED-ADDRESS', [address, port])
    .addMessageIntegrity(KEY)
    .addFingerprint();
  expect(checkSuccess(ID, KEY, { address, port })).toEqual(message.bytes);
});
