/** The cost of a footprint as a table. */
import type { Footprint } from '../../protocol/footprint.ts';
import { millionMinutesOf, monthOf, sharedMonth, total, type Cost } from './cost.ts';

/** @throws CostError */
export function report(footprint: Footprint): string {
  const regions = Object.entries(footprint);
  const built = regions.filter(([, { state }]) => state !== 'planned');
  const planned = regions.filter(([, { state }]) => state === 'planned');
  return [
    'A month in US dollars, with pools at their least:',
    ...built.map(([name, region]) => row(name, monthOf(region))),
    row('all regions', sharedMonth()),
    '',
    'Each million minutes of calls beside that:',
    ...built.map(([name, region]) => row(name, millionMinutesOf(region))),
    ...(planned.length > 0
      ? [
          '',
          'Planned, and not built: a month, then each million minutes:',
          ...planned.flatMap(([name, region]) => [
            row(name, monthOf(region)),
            row(name, millionMinutesOf(region)),
          ]),
        ]
      : []),
  ].join('\n');
}

function row(name: string, cost: Cost): string {
  const parts = Object.entries(cost).map(([part, dollars]) => `${part} ${dollars.toFixed(1)}`);
  return `${name.padEnd(14)} ${total(cost).toFixed(0).padStart(5)} = ${parts.join(', ')}`;
}
