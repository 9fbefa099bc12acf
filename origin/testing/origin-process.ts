/** An origin's command as a process of its own, that ends with its test. */
import { onTestFinished } from 'vitest';
import { CommandProcess, type OriginCommand } from './command-process.ts';

export class OriginProcess extends CommandProcess {
  constructor(command: OriginCommand) {
    super(command);
    onTestFinished(() => this.kill());
  }
}
