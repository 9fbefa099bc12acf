/** A picture of one outcome: each city in the color of the region that its media enters by. */
import type { SteeringTable } from '../../protocol/footprint.ts';
import type { Outcome } from './simulation.ts';

/** Pixels for each degree, of an equirectangular map. */
const SCALE = 4;

/** Degrees around the globe between the colors of neighbors in the list: the golden angle, for contrast. */
const HUE_STEP = 137.5;

/** Square pixels for each million people. */
const AREA_PER_MILLION = 12;

/** SVG text. */
export function mapOf({ name, cities }: Outcome, { clusters }: SteeringTable): string {
  const colors = new Map(
    clusters.map(({ region }, i) => [region, `hsl(${(i * HUE_STEP) % 360} 70% 45%)`]),
  );
  const dots = cities.map(({ city, ingress, km }) => {
    const [x, y] = project(city);
    const radius = Math.sqrt((city.population / 1e6) * (AREA_PER_MILLION / Math.PI)).toFixed(1);
    const title = escape(`${city.name}, ${city.country}: ${ingress}, ${Math.round(km)} km`);
    const fill = colors.get(ingress);
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"><title>${title}</title></circle>`;
  });
  const marks = clusters.map((cluster) => {
    const [x, y] = project(cluster);
    const label = escape(
      cluster.state === 'active' ? cluster.region : `${cluster.region} (${cluster.state})`,
    );
    const color = colors.get(cluster.region);
    return (
      `<rect x="${x - 5}" y="${y - 5}" width="10" height="10" fill="${color}" stroke="black"/>` +
      `<text x="${x + 8}" y="${y + 4}">${label}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${360 * SCALE} ${180 * SCALE}" font-family="sans-serif" font-size="14">`,
    `<title>${escape(`First hop of the world's cities: ${name}`)}</title>`,
    '<rect width="100%" height="100%" fill="#f4f4f4"/>',
    `<g stroke="#d8d8d8">${graticule().join('')}</g>`,
    `<g fill-opacity="0.7">`,
    ...dots,
    '</g>',
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}

function project({ latitude, longitude }: { latitude: number; longitude: number }) {
  return [Math.round((longitude + 180) * SCALE), Math.round((90 - latitude) * SCALE)] as const;
}

function graticule(): string[] {
  const [width, height] = [360 * SCALE, 180 * SCALE];
  const lines: string[] = [];
  for (let x = 0; x <= width; x += 30 * SCALE) lines.push(`<path d="M${x} 0V${height}"/>`);
  for (let y = 0; y <= height; y += 30 * SCALE) lines.push(`<path d="M0 ${y}H${width}"/>`);
  return lines;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
