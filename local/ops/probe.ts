/** `npm run ops -- probe URL` */
import { OptionsError, parseCommandLine } from '../../origin/command-line.ts';
import { baseUrls } from './admin-client.ts';
import { EXIT, type ExitCode, type OpsCommand } from './ops-command.ts';
import { probeDeployment, type ProbeResult } from './probe/probe.ts';
import { describeProbe } from './probe/probe-words.ts';
import { parseCandidate } from './probe/stun-probe.ts';

/** Seconds that each stage may take unless told otherwise. */
const DEFAULT_TIMEOUT = '10';

const HELP = `Makes a call to a deployment, as a client does, and times each stage.

  npm run ops -- probe https://voice.example.com          the whole check
  npm run ops -- probe URL --json                         the same as JSON, on one line, for monitors
  npm run ops -- probe URL --relay HOST:PORT              STUN alone, by this relay; may stand several times
  npm run ops -- probe URL --relay HOST:PORT/udp          by one transport; without one by UDP and TCP
  npm run ops -- probe URL --timeout SECONDS              for each stage; ${DEFAULT_TIMEOUT} unless given

Put a client secret (ek_…) or an API key (sk_…) into GLOBAL_RELAY_KEY; without it the call is one of the tenant
public, if there is one. Give the monitor a tenant of its own, so that its calls are told apart. While npm start runs:

  npm run ops -- probe http://localhost:8787

Stages: dns finds the host; edge asks /healthz; call posts an SDP offer and takes the answer; ice, dtls and audio are
as a browser has them, where audio waits for sound after a tone was sent: "tone" when it came back, as echo and parrot
do, "sound" for a voice of its own; relay is a check of its own (STUN) to each candidate of the answer, by UDP and TCP;
end hangs up. Milliseconds are those of the stage alone. A relay answers nobody but callers, so a check needs a call.

  exit code  status    means
  0          ok        everything worked
  1          degraded  calls work, and something does not: a relay or transport is silent, or no sound came
  2          down      no call can be made
  3          unknown   nothing can be said: the key is refused or has too many calls, or the command line is wrong

Monitors of Nagios' kind take these codes as they are.`;

const STATUS_CODES: Readonly<Record<ProbeResult['status'], ExitCode>> = EXIT;

export const probe: OpsCommand = {
  help: HELP,
  async run(args, { env, output, signal }) {
    const { values, positionals } = parseCommandLine({
      args: [...args],
      options: {
        relay: { type: 'string', multiple: true, default: [] },
        timeout: { type: 'string', default: DEFAULT_TIMEOUT },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0) {
      throw new OptionsError('Give the URL of one edge, as https://voice.example.com.');
    }
    const [edge] = baseUrls('URL', [url.replace(/\/$/, '')]);
    const timeout = Number(values.timeout) * 1000;
    if (!(timeout > 0)) throw new OptionsError(`--timeout ${values.timeout} is no number above 0.`);
    const result = await probeDeployment({
      edge: edge!,
      key: env.GLOBAL_RELAY_KEY || undefined,
      relays: values.relay.flatMap(candidatesOf),
      timeout,
      signal,
    });
    output.log(values.json ? JSON.stringify(result) : describeProbe(result));
    return STATUS_CODES[result.status];
  },
};

/** @throws OptionsError */
function candidatesOf(text: string) {
  const names = /\/(udp|tcp)$/.test(text) ? [text] : [`${text}/udp`, `${text}/tcp`];
  return names.map((name) => {
    const candidate = parseCandidate(name);
    if (candidate) return candidate;
    throw new OptionsError(`--relay ${text} is no HOST:PORT, as 203.0.113.7:3478.`);
  });
}
