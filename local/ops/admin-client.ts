/** What the admin servers of relays, transceivers and the edge say, as far as operators' commands read it. */
import * as v from 'valibot';
import { OptionsError } from '../../origin/command-line.ts';
import { reasonsOf } from '../../origin/reasons.ts';
import { BaseUrlSchema } from '../../protocol/base-url.ts';

/** Milliseconds until an admin server counts as not there. */
const TIMEOUT = 5_000;

const AddressSchema = v.object({ address: v.string(), port: v.number() });

export const SessionSchema = v.object({
  call: v.string(),
  tenant: v.string(),
  state: v.string(),
  age: v.number(),
  codec: v.optional(v.string()),
  client: v.optional(AddressSchema),
  relay: v.optional(AddressSchema),
});
export type ShownSession = v.InferOutput<typeof SessionSchema>;

export const TransceiverDumpSchema = v.object({
  state: v.string(),
  config: v.object({ cluster: v.number(), id: v.number() }),
});

const FlowSchema = v.object({
  client: v.string(),
  proxy: v.string(),
  cluster: v.number(),
  transceiver: v.number(),
  state: v.string(),
  ageMs: v.number(),
  idleMs: v.number(),
});
export type ShownFlow = v.InferOutput<typeof FlowSchema>;

export const RelayDumpSchema = v.object({
  state: v.string(),
  config: v.object({ cluster: v.number() }),
  counters: v.object({
    fromClients: v.object({ packets: v.number() }),
    drops: v.record(v.string(), v.number()),
  }),
  flows: v.array(FlowSchema),
});
export type RelayDump = v.InferOutput<typeof RelayDumpSchema>;

export const ClustersSchema = v.object({
  clusters: v.array(
    v.object({
      cluster: v.number(),
      state: v.string(),
      drained: v.boolean(),
      roster: v.nullable(
        v.array(
          v.object({
            transceiver: v.number(),
            sessions: v.number(),
            capacity: v.number(),
            draining: v.boolean(),
            seenAt: v.number(),
          }),
        ),
      ),
    }),
  ),
});

/** What was asked, or why it was not to be had, in words. */
export type Asked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status?: number; readonly why: string };

/**
 * @param url Whole.
 * @param authorization Value of the header of that name.
 */
export async function ask<T extends v.GenericSchema>(
  url: string,
  schema: T,
  authorization?: string,
): Promise<Asked<v.InferOutput<T>>> {
  try {
    const response = await fetch(url, {
      headers: authorization === undefined ? {} : { authorization },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const { status } = response;
    const text = await response.text();
    if (status !== 200) return { ok: false, status, why: `${status} ${text.trim()}` };
    const read = v.safeParse(schema, JSON.parse(text));
    if (read.success) return { ok: true, value: read.output };
    return { ok: false, status, why: 'what answers there is no admin server of that kind' };
  } catch (error) {
    return { ok: false, why: reasonsOf(error) };
  }
}

/** Base URLs as they were given. @param option For messages. @throws OptionsError */
export function baseUrls(option: string, texts: readonly string[]): readonly string[] {
  const bad = texts.find((text): boolean => !v.is(BaseUrlSchema, text));
  if (bad === undefined) return texts;
  throw new OptionsError(
    `${option} ${bad} is no http or https URL without credentials, query and final slash.`,
  );
}
