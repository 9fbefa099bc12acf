import { expect, test, beforeAll, afterAll } from 'vitest';
import { checkFootprint, FootprintError } from '../../protocol/footprint.ts';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { BAD_REGIONS } from './bad-regions.ts';
import { refusalsOf } from './footprints.ts';
import { Project } from './project.ts';
import { realRegions } from './region-files.ts';

const REGION_NAME = /\b([a-z]{2}(?:-[a-z]+)+)-(\d)/g;

describeWith(TERRAFORM, 'a bad region file', () => {
  let project: Project;
  let refusals: string[];

  beforeAll(async () => {
    const regions = await realRegions();
    project = await Project.create();
    refusals = await refusalsOf(
      project,
      BAD_REGIONS.map(({ files }, at) => ({
        files: JSON.parse(tagged(JSON.stringify(files(regions)), at)),
      })),
    );
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test.each(BAD_REGIONS.map((bad, at) => ({ ...bad, at })))(
    'with $fault is refused by both, with its file and field',
    async ({ files, named, at }) => {
      const regions = await realRegions();
      const faults = faultsIn(files(regions)).join('\n');
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
  return `-case${String.fromCodePoint(...[...String(at)].map((digit) => 97 + Number(digit)))}-`;
}

function faultsIn(files: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    checkFootprint(files);
  } catch (error) {
    if (error instanceof FootprintError) return error.faults;
    throw error;
  }
  return [];
}
