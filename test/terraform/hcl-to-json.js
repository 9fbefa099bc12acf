/**
 * Prints every .tf file as JSON, by its path in terraform/. It is no TypeScript, for the types of
 * @cdktn/hcl2json bring those of a browser along, and a process of its own, for the parser ends it at
 * what it cannot parse.
 */
import { readdir, readFile } from 'node:fs/promises';
import { parse } from '@cdktn/hcl2json';

const TERRAFORM = new URL('../../terraform/', import.meta.url);

const names = await readdir(TERRAFORM, { recursive: true });
const files = names
  .filter((name) => name.endsWith('.tf'))
  .map(async (name) => [name, await parse(name, await readFile(new URL(name, TERRAFORM), 'utf8'))]);
process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(files))));
