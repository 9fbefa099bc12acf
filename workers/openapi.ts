/**
 * The description of the edge's HTTP interface (OpenAPI 3.1), which the page's folder serves as /openapi.json. It is
 * made out of the schemas and problems that the routes use; `node workers/openapi.ts` writes it anew.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { format, resolveConfig } from 'prettier';
import type * as v from 'valibot';
import { FRAGMENT_CONTENT_TYPE } from '../protocol/ice-fragment.ts';
import { PROBLEM_CONTENT_TYPE, problem, type ProblemName } from '../protocol/problem.ts';
import { SessionSchema } from '../protocol/session-config.ts';
import { ClientSecretRequestSchema } from './openai/client-secret-request.ts';
import { ClientMessageSchema } from './signal/messages.ts';
import { WhereSchema } from './where-answer.ts';

export const OPENAPI_FILE = join(import.meta.dirname, 'page/openapi.json');

const SDP = 'application/sdp';
const JSON_TYPE = 'application/json';

const TEXT = { type: 'string' } as const;
const ID = { name: 'id', in: 'path', required: true, schema: TEXT } as const;
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: true,
  schema: TEXT,
  description: 'The ETag of the ICE that candidates are of, or * to restart ICE.',
} as const;

/** What may go wrong while a call is placed or changed, whatever the API. */
const FORWARDING = ['bad-gateway', 'no-capacity', 'gateway-timeout'] as const;
/** Who may not start a call, or not now. */
const CALLER = ['unauthorized', 'forbidden', 'too-many-calls'] as const;
/** Whose call it is not. */
const HELD = ['unauthorized', 'forbidden', 'call-not-found'] as const;
const OFFER = [
  'malformed-offer',
  'unacceptable-offer',
  'offer-too-large',
  'unsupported-media-type',
] as const;

/** A response; its headers are strings. */
function answer(description: string, content: object = {}, headers: readonly string[] = []) {
  const described = headers.map((name) => [name, { schema: TEXT }] as const);
  return { description, headers: Object.fromEntries(described), content };
}

/** The problems as responses, by status. */
function problems(shape: 'Problem' | 'OpenAiError', ...names: readonly ProblemName[]) {
  const type = shape === 'Problem' ? PROBLEM_CONTENT_TYPE : JSON_TYPE;
  const schema = { $ref: `#/components/schemas/${shape}` };
  const responses: Record<string, ReturnType<typeof answer>> = {};
  for (const name of names) {
    const { status, title } = problem(name, '');
    const told = `${title} (${name})`;
    const before = responses[status]?.description;
    const description = before === undefined ? told : `${before}; ${told}`;
    responses[status] = answer(description, { [type]: { schema } }, retryOf(status));
  }
  return responses;
}

function retryOf(status: number): string[] {
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

const text = (type: string) => ({ [type]: { schema: TEXT } });
const PLACED = ['Location', 'ETag', 'Server-Timing', 'Relay-Path'];
/** Takes nothing that shows who asks. */
const OPEN = { security: [] } as const;
const NOTHING = { 204: answer('Nothing, as RFC 9725 has it.') };

const place = (summary: string) => ({
  summary,
  requestBody: { required: true, content: text(SDP) },
  responses: {
    201: answer('The SDP answer, and the call’s URL.', text(SDP), PLACED),
    ...problems('Problem', ...OFFER, ...CALLER, ...FORWARDING),
  },
});

/** By path and method; every route of the Worker that clients may use is here. */
const PATHS = {
  '/v1/calls': {
    post: place('Place a call, in the shape of WHIP (RFC 9725) but for media both ways.'),
    get: { summary: 'Nothing.', ...OPEN, responses: NOTHING },
  },
  '/v1/calls/{id}': {
    parameters: [ID],
    patch: {
      summary: 'Trickle candidates or restart ICE (RFC 9725 §4.3).',
      parameters: [IF_MATCH],
      requestBody: { required: true, content: text(FRAGMENT_CONTENT_TYPE) },
      responses: {
        200: answer(
          'ICE was restarted; this is the other side of it.',
          text(FRAGMENT_CONTENT_TYPE),
          ['ETag'],
        ),
        204: answer('The candidates were taken.'),
        ...problems(
          'Problem',
          ...HELD,
          ...(['malformed-fragment', 'conflict', 'precondition-failed'] as const),
          ...(['fragment-too-large', 'unsupported-media-type', 'precondition-required'] as const),
          'too-many-changes',
          ...FORWARDING,
        ),
      },
    },
    delete: {
      summary: 'End the call.',
      responses: {
        200: answer('The call has ended.'),
        ...problems('Problem', ...HELD, 'too-many-changes', ...FORWARDING),
      },
    },
    get: {
      summary: 'Nothing, for an id that was given out.',
      responses: { ...NOTHING, ...problems('Problem', ...HELD) },
    },
  },
  '/whip': {
    post: place('Publish by WHIP (RFC 9725): the media of the offer goes one way, to the service.'),
    get: { summary: 'Nothing.', ...OPEN, responses: NOTHING },
  },
  '/v1/realtime/calls': {
    post: {
      summary: 'Place a call, in the shape of OpenAI’s Realtime API.',
      description:
        'Members of the session go over those that the client secret has, and over those of the service, but for the model and the formats of sound.',
      requestBody: {
        required: true,
        content: {
          ...text(SDP),
          'multipart/form-data': {
            schema: {
              type: 'object',
              required: ['sdp'],
              properties: { sdp: TEXT, session: { $ref: '#/components/schemas/Session' } },
            },
          },
        },
      },
      responses: {
        201: answer('The SDP answer, and the call’s URL.', text(SDP), PLACED),
        ...problems('OpenAiError', 'malformed-request', ...OFFER, ...CALLER, ...FORWARDING),
      },
    },
  },
  '/v1/realtime/calls/{id}/hangup': {
    parameters: [ID],
    post: {
      summary: 'End the call.',
      responses: {
        200: answer('The call has ended.'),
        ...problems('OpenAiError', ...HELD, 'too-many-changes', ...FORWARDING),
      },
    },
  },
  '/v1/realtime/client_secrets': {
    post: {
      summary: 'Mint a client secret with an API key.',
      security: [{ bearer: [] }],
      requestBody: {
        content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/ClientSecretRequest' } } },
      },
      responses: {
        200: answer('The secret.', {
          [JSON_TYPE]: { schema: { $ref: '#/components/schemas/ClientSecret' } },
        }),
        ...problems(
          'OpenAiError',
          'malformed-request',
          'unauthorized',
          'forbidden',
          'unsupported-media-type',
        ),
      },
    },
  },
  '/v1/signal': {
    get: {
      summary: 'Signal by WebSocket: each message is a SignalMessage, answered in its order.',
      description:
        'offer is answered by answer, restart by restarted, resume by resumed, bye by bye, and what is wrong by error with its problem. A connection has one call, which outlives it.',
      responses: {
        101: answer('The connection is open.'),
        ...problems('Problem', ...CALLER, 'upgrade-required'),
      },
    },
  },
  '/v1/where': {
    get: {
      summary: 'Where a call from here would go, and why.',
      description: 'The same state gives the same answer.',
      ...OPEN,
      responses: {
        200: answer('The decision.', {
          [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Where' } },
        }),
      },
    },
  },
  '/healthz': {
    get: {
      summary: 'Whether the edge answers.',
      ...OPEN,
      responses: { 200: answer('It does.', { [JSON_TYPE]: { schema: { type: 'object' } } }) },
    },
  },
};

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: { type: TEXT, title: TEXT, status: { type: 'integer' }, detail: TEXT },
};
const errorSchema = {
  type: 'object',
  required: ['message', 'type', 'code', 'param'],
  properties: { message: TEXT, type: TEXT, code: TEXT, param: { type: 'null' } },
};
const secretSchema = {
  type: 'object',
  required: ['value', 'expires_at', 'session'],
  properties: {
    value: TEXT,
    expires_at: { type: 'integer', description: 'Seconds since the Unix epoch.' },
    session: { $ref: '#/components/schemas/Session' },
  },
};

/** The document as an object. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Global Relay',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Standard WebRTC voice for AI, near to everyone.',
    },
    servers: [{ url: '/' }],
    // Or nothing, where there is a tenant `public`.
    security: [{ bearer: [] }, {}],
    paths: PATHS,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A client secret, ek_…, or an API key, sk_…. A WebSocket of a browser offers bearer.SECRET as a protocol instead.',
        },
      },
      schemas: {
        Problem: problemSchema,
        OpenAiError: {
          type: 'object',
          required: ['error'],
          properties: { error: errorSchema },
        },
        ClientSecretRequest: schemaOf(ClientSecretRequestSchema),
        ClientSecret: secretSchema,
        Session: schemaOf(SessionSchema),
        SignalMessage: schemaOf(ClientMessageSchema),
        Where: schemaOf(WhereSchema),
      },
    },
  };
}

/** The text of {@link OPENAPI_FILE}. */
export async function openApiText(): Promise<string> {
  const style = await resolveConfig(OPENAPI_FILE);
  return format(JSON.stringify(openApiDocument()), { ...style, parser: 'json' });
}

function schemaOf(schema: v.GenericSchema): object {
  // What it has no words for are the checks of jsonObject(): that an object is no list, which it says anyway.
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    errorMode: 'ignore',
  });
  return rest;
}

if (import.meta.main) await writeFile(OPENAPI_FILE, await openApiText());
