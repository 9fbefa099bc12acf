/**
 * A vitest reporter that ends every run with the plain line `N passed, N failed`, after a line for each
 * reason that tests were skipped for.
 */
import type { Reporter, TestModule } from 'vitest/node';

/** What a run came to; a file that cannot be loaded and an unhandled error each count as failed. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** Each reason that tests were skipped for, as they gave it. */
  notes: Set<string>;
}

type Counted = Pick<TestModule, 'errors'> & {
  readonly children: {
    allTests(): Iterable<{ result(): { readonly state: string; readonly note?: unknown } }>;
    allSuites(): Iterable<{ errors(): readonly unknown[] }>;
  };
};

/** A test that was left pending, as when its worker died, counts as failed. */
export function tally(modules: readonly Counted[], unhandled: readonly unknown[]): Tally {
  const total: Tally = { passed: 0, failed: unhandled.length, skipped: 0, notes: new Set() };
  for (const module of modules) {
    total.failed += module.errors().length;
    for (const suite of module.children.allSuites()) total.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state, note } = test.result();
      if (typeof note === 'string') total.notes.add(note);
      if (state === 'passed') total.passed++;
      else if (state === 'skipped') total.skipped++;
      else total.failed++;
    }
  }
  return total;
}

export function closingLine({ passed, failed, skipped }: Omit<Tally, 'notes'>): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

export class ClosingLine implements Reporter {
  #tally: Tally | undefined;

  onInit(): void {
    // Only at exit has every other part of the run had its say.
    process.once('exit', (code) => this.#close(code));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    this.#tally = tally(modules, unhandled);
  }

  /** The line and the exit code never contradict each other. */
  #close(code: number): void {
    const { passed, failed, skipped, notes } = this.#tally ?? tally([], []);
    const unexplained = code !== 0 && failed === 0 ? 1 : 0;
    if (failed > 0 && code === 0) process.exitCode = 1;
    for (const note of notes) process.stdout.write(`NOT TESTED: ${note}\n`);
    process.stdout.write(`${closingLine({ passed, failed: failed + unexplained, skipped })}\n`);
  }
}
