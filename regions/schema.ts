/**
 * The JSON Schema of a region file, for editors and for tools that are not this project's own. It is
 * made out of the schema that checks the files; `node regions/schema.ts` writes it anew.
 */
import { writeFile } from 'node:fs/promises';
import { toJsonSchema } from '@valibot/to-json-schema';
import { format, resolveConfig } from 'prettier';
import { RegionSchema } from '../protocol/footprint-region.ts';

export const SCHEMA_FILE = new URL('region.schema.json', import.meta.url);

/** The text of {@link SCHEMA_FILE}. */
export async function regionJsonSchema(): Promise<string> {
  const { $schema, ...schema } = toJsonSchema(RegionSchema, { target: 'draft-07' });
  const document = { $schema, title: 'A region of the footprint', ...schema };
  const style = await resolveConfig(SCHEMA_FILE);
  return format(JSON.stringify(document), { ...style, parser: 'json' });
}

if (import.meta.main) await writeFile(SCHEMA_FILE, await regionJsonSchema());
