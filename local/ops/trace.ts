/** `npm run ops -- trace CALL` */
import { OptionsError, parseCommandLine } from '../../origin/command-line.ts';
import { readFootprint } from '../../origin/footprint-files.ts';
import { CallIdCodec } from '../../protocol/call-id.ts';
import { baseUrls } from './admin-client.ts';
import { REGIONS_DIR, regionOf } from './clusters.ts';
import { EXIT, type ExitCode, type OpsCommand } from './ops-command.ts';
import { readRoutingKeys } from './routing-keys.ts';
import { callIn, traceCall, type Trace } from './trace-call.ts';
import { describeTrace } from './trace-words.ts';

const HELP = `Opens a call's id, says where the call lives, and asks the transceivers and relays you name for it.

  npm run ops -- trace CALL                      open the id by the routing keys in ROUTING_KEYS
  npm run ops -- trace CALL --keys FILE          by those in a file: the same text, or a relay's configuration
  npm run ops -- trace CALL --transceiver URL    does the session live? URL is the transceiver's admin server
  npm run ops -- trace CALL --relay URL          which flows lead to it? URL is the relay's admin server
  npm run ops -- trace CALL --edge URL           is its transceiver on the roster? Takes the admin key from ADMIN_KEY
  npm run ops -- trace CALL --json               the same as JSON
  npm run ops -- trace CALL --regions DIR        with the names of these region files

CALL is the id in the call's URL, the URL or path itself, or the 32 digits that transceivers log, for which no key is
needed. --transceiver and --relay may stand several times.

Admin servers are kept off the public: run this where they can be reached, or forward their ports, as
  aws ssm start-session --target INSTANCE --document-name AWS-StartPortForwardingSession --parameters portNumber=9500
  kubectl port-forward pod/transceiver-3 9500
While npm start runs, a region's is http://127.0.0.1:9478 for its relay, with /transceivers/1 for a transceiver.

Ends with 0 when the session was found or nobody was named to be asked, with 1 when its transceiver has it no more,
with 2 when that transceiver was not reached, and with 3 when a key, the id or the command line is wrong.`;

export const trace: OpsCommand = {
  help: HELP,
  async run(args, { env, output }) {
    const { values, positionals } = parseCommandLine({
      args: [...args],
      options: {
        keys: { type: 'string' },
        regions: { type: 'string', default: REGIONS_DIR },
        transceiver: { type: 'string', multiple: true, default: [] },
        relay: { type: 'string', multiple: true, default: [] },
        edge: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [text, ...more] = positionals;
    if (text === undefined || more.length > 0) throw new OptionsError('Give one call.');
    const named = callIn(text);
    if (!named) {
      throw new OptionsError(
        'That is no call: give the id in its URL, the URL, or the 32 digits of a log.',
      );
    }
    const [edge] = baseUrls('--edge', values.edge === undefined ? [] : [values.edge]);
    const ref = named.kind === 'name' ? { call: named.call } : await opened(named.id, values, env);
    const footprint = await readFootprint(values.regions);
    const found = await traceCall(ref, {
      transceivers: baseUrls('--transceiver', values.transceiver),
      relays: baseUrls('--relay', values.relay),
      edge: edge === undefined ? undefined : { url: edge, key: adminKey(env) },
    });
    const region = found.cluster === undefined ? undefined : regionOf(footprint, found.cluster);
    output.log(
      values.json
        ? JSON.stringify({ ...found, region })
        : describeTrace(found, region, values.transceiver.length > 0),
    );
    return exitCodeOf(found, values.transceiver.length > 0);
  },
};

async function opened(
  id: string,
  { keys }: { readonly keys?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
) {
  const routingKeys = await readRoutingKeys(keys, env);
  const ref = new CallIdCodec(routingKeys).open(id);
  if (ref) return ref;
  const ids = routingKeys.map((key) => key.id).join(' and ');
  throw new OptionsError(
    `The id was not sealed with the key ${ids}, or is not whole. It names the key ${id[0]}; see whether the edge has that one, with the same bytes.`,
  );
}

function adminKey(env: Readonly<Record<string, string | undefined>>): string {
  const { ADMIN_KEY: key } = env;
  if (key) return key;
  throw new OptionsError('Put the admin key of the edge into ADMIN_KEY, for --edge to ask with.');
}

function exitCodeOf({ session, owner }: Trace, asked: boolean): ExitCode {
  if (session || !asked) return EXIT.ok;
  return owner === 'has it no more' ? EXIT.degraded : EXIT.down;
}
