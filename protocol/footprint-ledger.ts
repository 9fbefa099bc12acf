/**
 * The ledger of the footprint: which id and network each region has, or had. Neither changes or is given
 * to another, for calls and peers may still hold them after a region is gone; one that comes back has them again.
 */
import * as v from 'valibot';
import { fileOf } from './footprint-rules.ts';
import { RegionNameSchema, RegionSchema } from './footprint-region.ts';

/** The ledger's file, as faults name it. */
export const LEDGER_FILE = 'regions/ledger.json';

const { id, cidr } = RegionSchema.entries;
const EntrySchema = v.strictObject({
  id,
  cidr,
  /** Whether it was taken away on purpose, which a file that is only missing is not. */
  gone: v.optional(v.boolean()),
});

/** By region name, with those that are gone. */
export const LedgerSchema = v.record(RegionNameSchema, EntrySchema);
export type Ledger = Readonly<Record<string, v.InferOutput<typeof EntrySchema>>>;

const FIELDS = ['id', 'cidr'] as const;

/**
 * @param files Parsed region files by region name, of any shape.
 * @param ledger Of any shape. A region that it lacks is new.
 * @returns Every id and network that is another region's or was changed, every region whose file is missing, and
 * every fault of the ledger.
 */
export function ledgerFaults(files: Readonly<Record<string, unknown>>, ledger: unknown): string[] {
  // A list would pass for a record of nothing.
  if (Array.isArray(ledger)) return [`${LEDGER_FILE}: the file: give regions by name, not a list`];
  const result = v.safeParse(LedgerSchema, ledger);
  if (!result.success) {
    return result.issues.map(
      (issue) => `${LEDGER_FILE}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`,
    );
  }
  const entries = Object.entries(result.output);
  const regions = Object.entries(files);
  const own = FIELDS.flatMap((field) =>
    repeatedIn(entries, field).concat(
      regions.flatMap(([name, file]) => fileFaults(name, file, entries, field)),
    ),
  );
  return [...own, ...missingFaults(entries, files)];
}

type Entries = [string, Ledger[string]][];
type Field = (typeof FIELDS)[number];

function fileFaults(name: string, file: unknown, entries: Entries, field: Field): string[] {
  const value = v.safeParse(v.looseObject({ [field]: v.unknown() }), file);
  if (!value.success) return [];
  const given = value.output[field];
  const own = entries.find(([region]) => region === name)?.[1];
  if (own !== undefined && v.is(RegionSchema.entries[field], given) && own[field] !== given) {
    return [
      `${fileOf(name)}: ${field} must stay ${own[field]}, as ${LEDGER_FILE} has it: it never changes`,
    ];
  }
  return entries
    .filter(([region, entry]) => region !== name && entry[field] === given)
    .map(
      ([region]) =>
        `${fileOf(name)}: ${field} ${String(given)} is that of ${region} in ${LEDGER_FILE}, and never given to another`,
    );
}

/** An apply would destroy the region of a file that is missing, with the calls there. */
function missingFaults(entries: Entries, files: Readonly<Record<string, unknown>>): string[] {
  return entries
    .filter(([name, { gone }]) => gone !== true && !Object.hasOwn(files, name))
    .map(
      ([name]) =>
        `${fileOf(name)}: the file is missing, and ${LEDGER_FILE} does not say that ${name} is gone. Put the file back; once it is drained, npm run region -- remove ${name} takes it away. If nothing of it was ever built, delete its line in ${LEDGER_FILE} instead`,
    );
}

function repeatedIn(entries: Entries, field: Field): string[] {
  const byValue = Map.groupBy(entries, ([, entry]) => entry[field]);
  return [...byValue]
    .filter(([, same]) => same.length > 1)
    .map(
      ([value, same]) =>
        `${LEDGER_FILE}: ${same.map(([region]) => region).join(' and ')} have ${field} ${value}`,
    );
}
