import { openDgramIo } from './dgram-io.ts';
import { describeIo } from './testing/io-contract.ts';

describeIo('dgram', openDgramIo);
