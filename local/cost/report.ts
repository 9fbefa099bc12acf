/** The cost of a footprint as a table. */
import type { Footprint } from '../../protocol/footprint.ts';
import { millionMinutesOf, monthOf, sharedMonth, total, type Cost } from './cost.ts';

/** @throws CostError */
export function report(footprint: Footprint): string {
  const built = Object.entries(footprint).filter(([, { state }]) => state !== 'planned');
  return [
    'A month in US dollars, with pools at their least:',
    ...built.map(([name, region]) => row(name, monthOf(region))),
    row('all regions', sharedMonth()),
    '',
    'Each million minutes of calls beside that:',
    ...built.map(([name, region]) => row(name, millionMinutesOf(region))),
  ].join('\n');
}

function row(name: string, cost: Cost): string {
  const parts = Object.entries(cost).map(([part, dollars]) => `${part} ${dollars.toFixed(1)}`);
  return `${name.padEnd(14)} ${total(cost).toFixed(0).padStart(5)} = ${parts.join(', ')}`;
}
