/** What a probe found, in words. */
import { formatTable } from '../../table.ts';
import { STAGES, type ProbeResult, type Stage } from './probe.ts';

export function describeProbe(result: ProbeResult): string {
  const { url, status, faults, stages, relays } = result;
  const rows = STAGES.flatMap((stage): string[][] => {
    const ms = stages[stage];
    return ms === undefined ? [] : [[stage, ms.toFixed(1), noteOn(stage, result)]];
  });
  const checks = relays.map(({ candidate, ms, why }) => [
    'relay',
    ms?.toFixed(1) ?? '-',
    why === undefined ? candidate : `${candidate}: ${why}`,
  ]);
  const table = formatTable([['stage', 'ms', ''], ...rows, ...checks]);
  return [`${status}: ${url}`, ...faults.map((fault) => `  ${fault}`), '', table].join('\n');
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
