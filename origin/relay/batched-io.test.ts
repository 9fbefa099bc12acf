import { describe } from 'vitest';
import { hasBatchedCalls } from './libc.ts';
import { describeIo } from './testing/io-contract.ts';
import { openPolledIo } from './testing/polled-io.ts';

describe.runIf(hasBatchedCalls())('on this system', () => {
  describeIo('batched', openPolledIo);
});
