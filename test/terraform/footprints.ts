/** Runs the module that derives every table on many footprints at once, in one run of Terraform. */
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { REGION_YAML } from '../../origin/footprint-files.ts';
import type { Ledger } from '../../protocol/footprint-ledger.ts';
import type { Project, RegionFiles } from './project.ts';

const SCHEMA = new URL('../../regions/region.schema.json', import.meta.url);

/** What the edge is reached at, and what the clouds assigned. */
export const HOSTNAME = 'voice.example.com';
export const VIPS = ['192.0.2.1', '192.0.2.2'];

const FOLDER = 'footprints';
const CONFIGURATION = `
variable "cases" {
  type = map(object({ files = map(string), ledger = map(object({ id = number, cidr = string, gone = optional(bool) })) }))
}
variable "schema" {
  type = string
}
module "footprint" {
  source   = "../terraform/modules/footprint"
  for_each = var.cases
  files    = each.value.files
  ledger   = each.value.ledger
  schema   = var.schema
  hostname = ${JSON.stringify(HOSTNAME)}
  vips     = ${JSON.stringify(VIPS)}
}
output "footprints" {
  value = module.footprint
}
`;

export interface Case {
  readonly files: RegionFiles;
  readonly ledger?: Ledger;
}

/** What the module puts out, as far as tests look at it. */
export interface Tables {
  readonly steering: unknown;
  readonly routing: unknown;
  readonly peerings: Readonly<
    Record<string, { readonly requester: string; readonly accepter: string }>
  >;
  readonly signaling_hosts: Readonly<Record<string, string>>;
  readonly load_balancer_addresses: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** @returns the tables of each case, in their order */
export async function tablesOf(project: Project, cases: readonly Case[]): Promise<Tables[]> {
  await prepare(project, cases);
  const { code, stderr } = await project.run(['plan', '-out=plan.tfplan'], FOLDER);
  if (code !== 0) throw new Error(stderr);
  const { stdout } = await project.run(['show', '-json', 'plan.tfplan'], FOLDER);
  const found: Record<string, Tables> = JSON.parse(stdout).planned_values.outputs.footprints.value;
  return cases.map((_, at) => found[keyOf(at)]!);
}

/** @returns why Terraform refuses them: the message of each error, in no order */
export async function refusalsOf(project: Project, cases: readonly Case[]): Promise<string[]> {
  await prepare(project, cases);
  const { stdout } = await project.run(['plan', '-json'], FOLDER);
  return errorsIn(stdout);
}

/** The errors in what `terraform plan -json` printed. */
export function errorsIn(stdout: string): string[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ diagnostic }) => diagnostic?.severity === 'error')
    .map(({ diagnostic }) => `${diagnostic.summary}\n${diagnostic.detail}`);
}

async function prepare(project: Project, cases: readonly Case[]): Promise<void> {
  const texts = cases.map(({ files, ledger = {} }, at) => {
    const entries = Object.entries(files).map(([name, file]) => [
      name,
      stringify(file, REGION_YAML),
    ]);
    return [keyOf(at), { files: Object.fromEntries(entries), ledger }];
  });
  const variables = { cases: Object.fromEntries(texts), schema: await readFile(SCHEMA, 'utf8') };
  await project.write(`${FOLDER}/main.tf`, CONFIGURATION);
  await project.write(`${FOLDER}/terraform.tfvars.json`, JSON.stringify(variables));
  const { code, stderr } = await project.run(['init'], FOLDER);
  if (code !== 0) throw new Error(stderr);
}

function keyOf(at: number): string {
  return `case-${at}`;
}
