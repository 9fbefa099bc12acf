/** How long Terraform plans many regions, with the providers that stand in for the clouds: the plan's own time. */
import { Project } from '../../test/terraform/project.ts';
import { realRegions, regionLike } from '../../test/terraform/region-files.ts';

const REGIONS = 30;
/** Seconds in which that many regions must be planned. */
const BAR = 30;
/** Beyond the ids and networks that the ledger has. */
const FIRST_NEW_ID = 50;

export interface TerraformFigures {
  readonly regions: number;
  readonly resources: number;
  readonly seconds: number;
  readonly bar: number;
}

/** @throws when terraform is not there */
export async function benchTerraform(): Promise<TerraformFigures> {
  await using project = await Project.create(await manyRegions());
  const start = performance.now();
  const output = await project.mustRun('plan', '-refresh=false', '-compact-warnings');
  const seconds = (performance.now() - start) / 1000;
  const resources = Number(/^Plan: (\d+) to add/m.exec(output)?.[1]);
  return { regions: REGIONS, resources, seconds, bar: BAR };
}

async function manyRegions(): Promise<Record<string, unknown>> {
  const real = await realRegions();
  const added = Array.from({ length: REGIONS - Object.keys(real).length }, (_, at) => {
    const name = `eu-${String.fromCodePoint(97 + (at % 26))}${'x'.repeat(at / 26)}-1`;
    return [name, regionLike(name, at + FIRST_NEW_ID)];
  });
  return { ...real, ...Object.fromEntries(added) };
}
