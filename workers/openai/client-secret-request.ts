/** What a client secret is asked for by. */
import * as v from 'valibot';
import { jsonObject } from '../../protocol/json-value.ts';
import { SessionSchema } from '../../protocol/session-config.ts';
import {
  DEFAULT_SECRET_LIFETIME,
  MAX_SECRET_LIFETIME,
  MIN_SECRET_LIFETIME,
} from '../client-secrets.ts';

const Lifetime = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(MIN_SECRET_LIFETIME),
  v.maxValue(MAX_SECRET_LIFETIME),
);

const ExpiresAfter = v.object({
  anchor: v.optional(v.literal('created_at'), 'created_at'),
  seconds: v.optional(Lifetime, DEFAULT_SECRET_LIFETIME),
});

export const ClientSecretRequestSchema = jsonObject(
  v.object({
    expires_after: v.optional(jsonObject(ExpiresAfter), {}),
    session: v.optional(SessionSchema),
  }),
);
