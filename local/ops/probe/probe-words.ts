/** What a probe found, in words. */
import { formatTable } from '../../table.ts';
import { STAGES, type Fault, type ProbeResult, type Stage } from './probe.ts';

/** Where to look when a stage fails. */
const ADVICE: Readonly<Record<Fault['stage'], string>> = {
  dns: 'See the DNS record of the edge, and the resolver here.',
  edge: 'See whether the Worker is deployed on that host, and what a proxy or firewall here does.',
  call: '401, 403 and 429 are about GLOBAL_RELAY_KEY. Else see the edge’s log: docs/edge.md, Logs.',
  ice: 'Packets do not come through: see the relays below, then npm run ops -- drops of those relays.',
  dtls: 'Checks come through and more does not: see sizes of packets on the way, and the transceiver’s log.',
  audio:
    'Media goes through and the back end says nothing: see the transceiver’s log. A voice that waits for words may be silent.',
  relay: 'See whether it runs, its UDP and TCP port in firewalls, and npm run ops -- drops of it.',
  end: 'See the edge’s log. The call ends by itself.',
};

export function describeProbe(result: ProbeResult): string {
  const { url, status, faults, stages, relays } = result;
  const told = faults.map(({ stage, why }) => `  ${stage}: ${why}`);
  const advice = [...new Set(faults.map(({ stage }) => stage))].map(
    (stage) => `  Do (${stage}): ${ADVICE[stage]}`,
  );
  const rows = STAGES.flatMap((stage): string[][] => {
    const ms = stages[stage];
    return ms === undefined ? [] : [[stage, ms.toFixed(1), noteOn(stage, result)]];
  });
  const checks = relays.map(({ candidate, ms, why }) => [
    'relay',
    ms?.toFixed(1) ?? '-',
    why === undefined ? candidate : `${candidate}: ${why}`,
  ]);
  const reached = [...rows, ...checks];
  const table = reached.length === 0 ? [] : ['', formatTable([['stage', 'ms', ''], ...reached])];
  return [`${status}: ${url}`, ...told, ...advice, ...table].join('\n');
}

function noteOn(stage: Stage, { path, heard }: ProbeResult): string {
  if (stage === 'call') {
    return Object.entries(path)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ');
  }
  if (stage !== 'audio') return '';
  return heard === 'tone' ? 'the tone came back' : 'a sound came, not the tone';
}
