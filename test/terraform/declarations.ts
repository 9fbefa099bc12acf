/** What holds for the variables and outputs that the .tf files declare. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HCL_TO_JSON = fileURLToPath(new URL('hcl-to-json.js', import.meta.url));
/** Bytes of all files as JSON. */
const MAX_OUTPUT = 64 << 20;

/** Each name has one block. */
type Blocks = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** What a file declares, as far as it is looked at here. */
export interface Declarations {
  readonly variable?: Blocks;
  readonly output?: Blocks;
}

/** Every .tf file by its path in terraform/. */
export async function readDeclarations(): Promise<Readonly<Record<string, Declarations>>> {
  const options = { maxBuffer: MAX_OUTPUT };
  const { stdout } = await promisify(execFile)(process.execPath, [HCL_TO_JSON], options);
  return JSON.parse(stdout);
}

/** Each variable is typed, described and validated, each output described, and no secret is in clear. */
export function declarationFaults(files: Readonly<Record<string, Declarations>>): string[] {
  return Object.entries(files).flatMap(([file, { variable = {}, output = {} }]) =>
    [...variableFaults(variable), ...outputFaults(output)].map((fault) => `${file}: ${fault}`),
  );
}

function variableFaults(variables: Blocks): string[] {
  return Object.entries(variables).flatMap(([name, [block = {}]]) => {
    const faults = ['type', 'description', 'validation']
      .filter((part) => block[part] === undefined)
      .map((part) => `variable ${name} has no ${part}`);
    const isSecret = isSecretName(name) && String(block.type).includes('string');
    return isSecret && block.sensitive !== true
      ? faults.concat(`variable ${name} is not sensitive`)
      : faults;
  });
}

function outputFaults(outputs: Blocks): string[] {
  return Object.entries(outputs).flatMap(([name, [block = {}]]) => {
    const faults = block.description === undefined ? [`output ${name} has no description`] : [];
    return mentionsSecret(block.value) && block.sensitive !== true
      ? faults.concat(`output ${name} is not sensitive`)
      : faults;
  });
}

const REFERENCE = /\b(var|local|module|aws_\w+|cloudflare_\w+)(\.\w+)+/g;

function mentionsSecret(value: unknown): boolean {
  const references = JSON.stringify(value).match(REFERENCE) ?? [];
  return references.some((reference) => isSecretName(reference.split('.').at(-1)!));
}

/** The id, name or ARN of what is secret may be told. */
function isSecretName(name: string): boolean {
  return /(secret|token|password|auth|key)s?$/.test(name) || /^(secret|token|password)/.test(name)
    ? !/_(arn|id|name|version)s?$/.test(name)
    : false;
}
