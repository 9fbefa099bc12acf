/** A picture of one outcome: each city in the color of the region that its media enters by, with the figures. */
import type { SteeringTable } from '../../protocol/footprint.ts';
import { LAND } from '../../workers/page/land.js';
import { MAP_HEIGHT, MAP_WIDTH, project } from '../../workers/page/world.js';
import { PERCENTILES, type Outcome } from './simulation.ts';

/** Degrees east from which labels stand to the left of their mark, to stay in the picture. */
const LABELS_LEFT_FROM = 120;

/** Pixels below the map for the figures, and between their lines. */
const LINE = 22;

/** Degrees around the globe between the colors of neighbors in the list: the golden angle, for contrast. */
const HUE_STEP = 137.5;

/** Square pixels for each million people. */
const AREA_PER_MILLION = 12;

/** SVG text. */
export function mapOf(
  { name, cities, km, rtt, load }: Outcome,
  { clusters }: SteeringTable,
): string {
  const colors = new Map(
    clusters.map(({ region }, i) => [region, `hsl(${(i * HUE_STEP) % 360} 70% 45%)`]),
  );
  const dots = cities.map(({ city, ingress, km: far }) => {
    const [x, y] = project(city);
    const radius = Math.sqrt((city.population / 1e6) * (AREA_PER_MILLION / Math.PI)).toFixed(1);
    const title = escape(`${city.name}, ${city.country}: ${ingress}, ${Math.round(far)} km`);
    const fill = colors.get(ingress);
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"><title>${title}</title></circle>`;
  });
  const marks = clusters.map((cluster) => {
    const [x, y] = project(cluster);
    const state = cluster.state === 'active' ? percent(load[cluster.region]) : cluster.state;
    const label = escape(`${cluster.region} (${state})`);
    const color = colors.get(cluster.region);
    const isLeft = cluster.longitude > LABELS_LEFT_FROM;
    const at = `x="${isLeft ? x - 10 : x + 10}" y="${y + 5}" text-anchor="${isLeft ? 'end' : 'start'}"`;
    return (
      `<rect x="${x - 6}" y="${y - 6}" width="12" height="12" fill="${color}" stroke="black" stroke-width="1"/>` +
      `<text ${at}>${label}</text>`
    );
  });
  const figures = PERCENTILES.map(
    (p) => `p${p} ${Math.round(km[`p${p}`]!)} km, ${Math.round(rtt[`p${p}`]!)} ms`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${MAP_WIDTH} ${MAP_HEIGHT + 2 * LINE + LINE / 2}" font-family="sans-serif" font-size="14">`,
    `<title>${escape(`First hop of the world's cities: ${name}`)}</title>`,
    '<rect width="100%" height="100%" fill="#f4f4f4"/>',
    `<path d="${LAND}" fill="#dcdcdc"/>`,
    `<g fill-opacity="0.7">`,
    ...dots,
    '</g>',
    '<g stroke="#f4f4f4" stroke-width="4" paint-order="stroke">',
    ...marks,
    '</g>',
    `<text x="12" y="${MAP_HEIGHT + LINE}" font-weight="bold">First hop, ${escape(name)} (share of sessions)</text>`,
    `<text x="12" y="${MAP_HEIGHT + 2 * LINE}">${figures.join(' · ')}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function percent(share = 0): string {
  return `${(100 * share).toFixed(0)} %`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
