/** A copy of terraform/ and regions/ that a test may change, and Terraform's commands in it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { REGION_YAML } from '../../origin/footprint-files.ts';
import { findProgram } from '../support/find-program.ts';
import { PROVIDERS, readSlice, type ProviderName } from './slice-schemas.ts';
import { serveStandIn, type StandIn } from './standin/provider.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADDRESSES: Readonly<Record<ProviderName, string>> = {
  aws: 'registry.terraform.io/hashicorp/aws',
  cloudflare: 'registry.terraform.io/cloudflare/cloudflare',
};
/** What stands for the bundle of the edge's Worker. */
const WORKER = 'export default { fetch: () => new Response() };\n';

const DIGEST = `sha256:${'0'.repeat(64)}`;
/** No part of which may come into the state. */
export const SECRETS = {
  routing_keys: `A:${Buffer.alloc(16, 'routing').toString('base64')}`,
  signing_key: Buffer.alloc(32, 'signing').toString('base64'),
  backend: '"parrot"',
  redis_auth: 'onlyforthesetests',
};
/** What an operator says in terraform.tfvars and TF_VAR_secrets. */
const VARIABLES = {
  hostname: 'voice.example.com',
  aws_account_id: '123456789012',
  cloudflare: { account_id: '0'.repeat(32), zone_id: '1'.repeat(32) },
  images: {
    origin: `registry.example/origin@${DIGEST}`,
    tunnel: `registry.example/tunnel@${DIGEST}`,
  },
  secrets: SECRETS,
};
/** Bytes of what a command may print; a plan of thirty regions is some 20 MB of JSON. */
const MAX_OUTPUT = 256 << 20;
/** Characters of a failed command's messages that are shown. */
const SHOWN = 4000;

/**
 * Whether the real providers are asked instead of those that stand in:
 * `TERRAFORM_PROVIDERS=real npx vitest run --project deployment test/terraform/commands.test.ts` downloads
 * them, and needs no credentials.
 */
export const REAL_PROVIDERS = process.env.TERRAFORM_PROVIDERS === 'real';

const CLOUD_COMMANDS = new Set(['plan', 'apply', 'destroy']);

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Region files by region name, parsed. */
export type RegionFiles = Readonly<Record<string, unknown>>;

export class Project implements AsyncDisposable {
  readonly #directory: string;
  readonly #standIns: readonly StandIn[];
  readonly #env: NodeJS.ProcessEnv;

  private constructor(directory: string, standIns: readonly StandIn[], env: NodeJS.ProcessEnv) {
    this.#directory = directory;
    this.#standIns = standIns;
    this.#env = env;
  }

  /** Of this repository as it is, or with other region files. */
  static async create(regions?: RegionFiles): Promise<Project> {
    const directory = await mkdtemp(join(tmpdir(), 'terraform-'));
    for (const name of await readdir(ROOT)) {
      if (name === 'terraform' || name === 'regions') {
        await cp(join(ROOT, name), join(directory, name), { recursive: true, filter: isSource });
      } else if (name !== 'dist') await symlink(join(ROOT, name), join(directory, name));
    }
    const [standIns, reattach] = REAL_PROVIDERS ? [[], undefined] : await startStandIns();
    const project = new Project(directory, standIns, {
      ...process.env,
      CHECKPOINT_DISABLE: '1',
      TF_IN_AUTOMATION: '1',
      TF_INPUT: '0',
      TF_CLI_ARGS: '-no-color',
      TF_CLI_CONFIG_FILE: '/dev/null',
      ...(reattach && { TF_REATTACH_PROVIDERS: JSON.stringify(reattach) }),
    });
    await project.write('dist/worker/index.js', WORKER);
    await project.write('terraform/terraform.tfvars.json', JSON.stringify(VARIABLES));
    if (regions !== undefined) await project.writeRegions(regions);
    await project.mustRun('init', '-backend=false');
    return project;
  }

  /** Puts these region files in the place of all that were there. */
  async writeRegions(regions: RegionFiles): Promise<void> {
    const folder = join(this.#directory, 'regions');
    for (const name of await readdir(folder)) {
      if (name.endsWith('.yaml')) await rm(join(folder, name));
    }
    for (const [name, region] of Object.entries(regions)) await this.writeRegion(name, region);
  }

  async writeRegion(name: string, region: unknown): Promise<void> {
    await this.write(`regions/${name}.yaml`, stringify(region, REGION_YAML));
  }

  /** Writes a file of the copy. */
  async write(path: string, text: string): Promise<void> {
    const file = join(this.#directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  async removeRegion(name: string): Promise<void> {
    await rm(join(this.#directory, 'regions', `${name}.yaml`));
  }

  /** Runs a command of Terraform in a folder of the copy. */
  run(args: readonly string[], folder = 'terraform'): Promise<Outcome> {
    if (REAL_PROVIDERS && CLOUD_COMMANDS.has(args[0]!)) {
      throw new Error(
        `terraform ${args[0]} is not for the real providers: it would reach real clouds`,
      );
    }
    return new Promise((resolve, reject) => {
      const terraform = findProgram('terraform');
      if (terraform === undefined) throw new Error('terraform is not on this machine');
      const options = { cwd: join(this.#directory, folder), env: this.#env, maxBuffer: MAX_OUTPUT };
      const child = execFile(terraform, args, options, (error, stdout, stderr) => {
        if (error !== null && child.exitCode === null) reject(error);
        else resolve({ code: child.exitCode!, stdout, stderr });
      });
    });
  }

  /** @returns what it printed */
  async mustRun(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0)
      throw new Error(
        `terraform ${args[0]} ended with ${code}:\n${(stderr || stdout).slice(0, SHOWN)}`,
      );
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const standIn of this.#standIns) standIn.close();
    await rm(this.#directory, { recursive: true });
  }
}

async function startStandIns(): Promise<[StandIn[], object]> {
  const standIns: StandIn[] = [];
  const reattach: Record<string, object> = {};
  for (const provider of PROVIDERS) {
    const standIn = await serveStandIn(await readSlice(provider));
    standIns.push(standIn);
    // https://developer.hashicorp.com/terraform/plugin/debugging: how Terraform uses one that runs already
    reattach[ADDRESSES[provider]] = {
      Protocol: 'grpc',
      ProtocolVersion: 6,
      Pid: process.pid,
      Test: true,
      Addr: { Network: 'tcp', String: standIn.address },
    };
  }
  return [standIns, reattach];
}

/** Not what Terraform left where somebody ran it. */
function isSource(path: string): boolean {
  return !/\.terraform\b|\.tfstate|\.tfplan/.test(path);
}
