/**
 * Stands in for a Terraform provider: serves its schemas over the plugin protocol 6 and plans and
 * "applies" what fits them. It calls no cloud, so it proves types, references and differences, and
 * nothing of what a cloud would say.
 */
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { loadSync, type AnyDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { refusals } from './clouds.ts';
import { apply, plan, read } from './planning.ts';
import { schemaMessage, type ProviderSchemas, type Schema } from './schema.ts';
import { decode, encode, type DynamicValue } from './values.ts';

const PROTO = fileURLToPath(new URL('tfplugin6.proto', import.meta.url));
/** Bytes; the answer with the schemas and a Worker's script are the large messages. */
const MAX_MESSAGE = 64 << 20;

const LOAD_OPTIONS = { keepCase: true, longs: Number, defaults: true };

/** Fields of the protocol's requests; each has those that its message has. */
interface Request {
  readonly type_name: string;
  readonly config: DynamicValue;
  readonly prior_state: DynamicValue;
  readonly proposed_new_state: DynamicValue;
  readonly planned_state: DynamicValue;
  readonly current_state: DynamicValue;
  readonly raw_state: { readonly json: Uint8Array };
}

export interface StandIn {
  /** `host:port` on loopback. */
  readonly address: string;
  close(): void;
}

export async function serveStandIn(schemas: ProviderSchemas): Promise<StandIn> {
  const limits = {
    'grpc.max_receive_message_length': MAX_MESSAGE,
    'grpc.max_send_message_length': MAX_MESSAGE,
  };
  const server = new Server(limits);
  const answers = Object.entries(handlers(schemas)).map(([name, handle]) => [name, unary(handle)]);
  server.addService(service(), Object.fromEntries(answers));
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure());
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

function service(): ServiceDefinition {
  const definition = loadSync(PROTO, LOAD_OPTIONS)['tfplugin6.Provider'];
  if (definition === undefined || !isService(definition))
    throw new Error(`${PROTO} has no service`);
  return definition;
}

function isService(definition: AnyDefinition): definition is ServiceDefinition {
  return !('format' in definition);
}

function handlers(schemas: ProviderSchemas): Record<string, (request: Request) => object> {
  const resource = (type: string) => find(schemas.resource_schemas, type);
  return {
    GetProviderSchema: () => schemaMessage(schemas),
    ValidateProviderConfig: () => ({}),
    ConfigureProvider: () => ({}),
    ValidateDataResourceConfig: () => ({}),
    StopProvider: () => ({}),

    ValidateResourceConfig: ({ type_name, config }) => ({
      diagnostics: refusals(type_name, decode(config) ?? {}).map((refusal) => ({
        severity: 'ERROR',
        summary: `${type_name}: ${refusal}`,
      })),
    }),
    UpgradeResourceState: ({ raw_state }) => ({ upgraded_state: { json: raw_state.json } }),
    ReadResource: ({ current_state }) => ({ new_state: current_state }),

    PlanResourceChange: ({ type_name, prior_state, proposed_new_state }) => {
      const proposed = decode(proposed_new_state);
      if (proposed === null) return { planned_state: proposed_new_state };
      const result = plan(type_name, resource(type_name), decode(prior_state), proposed);
      return {
        planned_state: encode(result.planned),
        requires_replace: result.replacedFor.map((name) => ({ steps: [{ attribute_name: name }] })),
      };
    },
    ApplyResourceChange: ({ type_name, planned_state }) => {
      const planned = decode(planned_state);
      if (planned === null) return { new_state: planned_state };
      return { new_state: encode(apply(type_name, resource(type_name), planned)) };
    },
    ReadDataSource: ({ type_name, config }) => {
      const schema = find(schemas.data_source_schemas, type_name);
      return { state: encode(read(type_name, schema, decode(config) ?? {})) };
    },
  };
}

function find(schemas: Readonly<Record<string, Schema>>, type: string): Schema {
  const schema = schemas[type];
  if (schema === undefined) throw new Error(`there is no schema of ${type}`);
  return schema;
}

function unary(handle: (request: Request) => object) {
  return (call: ServerUnaryCall<Request, object>, reply: sendUnaryData<object>) => {
    try {
      reply(null, handle(call.request));
    } catch (error) {
      reply({ code: status.INTERNAL, message: String(error) });
    }
  };
}
