/** Tests of programs that not every machine has: without one they are skipped, and the run says so at its end. */
/* oxlint-disable vitest/no-conditional-tests, vitest/valid-describe-callback, vitest/valid-title, vitest/expect-expect -- it makes suites out of those it is given */
import { describe, test } from 'vitest';
import { findProgram } from './find-program.ts';

export interface OptionalProgram {
  readonly program: string;
  /** What stays untested without it. */
  readonly purpose: string;
  /** Where it is to be had. */
  readonly source: string;
}

export const TERRAFORM: OptionalProgram = {
  program: 'terraform',
  purpose: 'the infrastructure in terraform/',
  source: 'https://developer.hashicorp.com/terraform/install',
};
export const KUBECTL: OptionalProgram = {
  program: 'kubectl',
  purpose: 'the Kubernetes overlays in origin/k8s/',
  source: 'https://kubernetes.io/docs/tasks/tools/',
};

/**
 * A `describe` whose body is not even looked at without the program. Then one test in its place is
 * skipped with a note, or fails where `CI` is `true`, for there the program must be.
 */
export function describeWith(optional: OptionalProgram, name: string, body: () => void): void {
  if (findProgram(optional.program) !== undefined) {
    describe(name, body);
    return;
  }
  describe(name, () => {
    test(`needs ${optional.program}`, ({ skip }) => {
      if (process.env.CI === 'true') throw new Error(absence(optional));
      skip(absence(optional));
    });
  });
}

function absence({ program, purpose, source }: OptionalProgram): string {
  return `${program} is not on this machine, so ${purpose} was not tested; get it from ${source}`;
}
