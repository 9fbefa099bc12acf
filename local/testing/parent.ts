/** A parent for tests: starts the test service, says its process id, and waits to be killed. */
import { startChild } from '../child.ts';
import type { TestService } from './service.ts';

const { ready } = await startChild<TestService>({
  name: 'service',
  module: new URL('service.ts', import.meta.url),
  env: {},
});
console.log(ready.pid);
