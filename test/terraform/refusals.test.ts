import { expect, test, beforeAll, afterAll } from 'vitest';
import { checkFootprint, FootprintError } from '../../protocol/footprint.ts';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { BAD_REGIONS } from './bad-regions.ts';
import { errorsIn, refusalsOf } from './footprints.ts';
import { Project } from './project.ts';
import { realRegions } from './region-files.ts';

const REGION_NAME = /\b([a-z]{2}(?:-[a-z]+)+)-(\d)/g;

describeWith(TERRAFORM, 'a bad region file', () => {
  let project: Project;
  let refusals: string[];

  beforeAll(async () => {
    const regions = await realRegions();
    project = await Project.create();
    const cases = BAD_REGIONS.map(({ files, ledger = {} }, at) =>
      JSON.parse(tagged(JSON.stringify({ files: files(regions), ledger }), at)),
    );
    refusals = await refusalsOf(project, cases);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test('ends a plan of the whole with all that is wrong', async () => {
    const [name, region] = Object.entries(await realRegions())[0]!;
    await project.writeRegion(name, { ...region, id: 0, azs: [] });
    const { code, stdout } = await project.run(['plan', '-json']);
    expect(code).toBe(1);
    const errors = errorsIn(stdout);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`regions/${name}.yaml: id: `);
    expect(errors[0]).toContain(`regions/${name}.yaml: azs: `);
  });

  test.each(
    BAD_REGIONS.map(({ fault, files, ledger, named }, at) => ({ fault, files, ledger, named, at })),
  )(
    'with $fault is refused by both, with its file and field',
    async ({ files, ledger, named, at }) => {
      const regions = await realRegions();
      const faults = faultsIn(files(regions), ledger).join('\n');
      const own = refusals.filter((refusal) => refusal.includes(tag(at)));
      expect(own).toHaveLength(1);
      for (const name of named) {
        expect(faults).toContain(name);
        expect(own[0]).toContain(tagged(name, at));
      }
    },
  );
});

/** Every case has regions of its own, by whose names its faults are known. */
function tagged(text: string, at: number): string {
  return text.replaceAll(REGION_NAME, `$1${tag(at)}$2`);
}

function tag(at: number): string {
  return `-case${'x'.repeat(at)}-`;
}

function faultsIn(files: Readonly<Record<string, unknown>>, ledger: unknown): readonly string[] {
  try {
    checkFootprint(files, ledger);
  } catch (error) {
    if (error instanceof FootprintError) return error.faults;
    throw error;
  }
  return [];
}
