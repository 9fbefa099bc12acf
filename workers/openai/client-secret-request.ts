/** What a client secret is asked for by. */
import * as v from 'valibot';
import {
  DEFAULT_SECRET_LIFETIME,
  MAX_SECRET_LIFETIME,
  MIN_SECRET_LIFETIME,
} from '../client-secrets.ts';
import { SessionSchema } from './call-form.ts';

const Lifetime = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(MIN_SECRET_LIFETIME),
  v.maxValue(MAX_SECRET_LIFETIME),
);

export const ClientSecretRequestSchema = v.object({
  expires_after: v.optional(
    v.object({
      anchor: v.optional(v.literal('created_at'), 'created_at'),
      seconds: v.optional(Lifetime, DEFAULT_SECRET_LIFETIME),
    }),
    {},
  ),
  session: v.optional(SessionSchema),
});
