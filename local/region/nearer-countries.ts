/** Countries that a region file claims though another region is nearer to most who live there. */
import type { Region } from '../../protocol/footprint-region.ts';
import type { Footprint } from '../../protocol/footprint.ts';
import { kilometers, unitVector } from '../../workers/sphere.ts';
import { readCities, type City } from '../simulate/cities.ts';

/**
 * @returns A line for each other region that has countries in `geo.countries` whose cities, by population, are nearer to
 * this one. A country without a city in cities.csv is left where it is.
 */
export async function nearerCountries(name: string, footprint: Footprint): Promise<string[]> {
  const here = footprint[name]!;
  const byCountry = Map.groupBy(await readCities(), ({ country }) => country);
  return Object.entries(footprint).flatMap(([other, there]) => {
    if (other === name) return [];
    const nearer = (there.geo.countries ?? []).filter((country) => {
      const cities = byCountry.get(country) ?? [];
      return distance(cities, here) < distance(cities, there);
    });
    return nearer.length === 0 ? [] : [lineOf(name, other, nearer)];
  });
}

function lineOf(name: string, other: string, countries: readonly string[]): string {
  return `Nearer to ${name} than to ${other}: ${countries.join(', ')}. Move them to its geo.countries, from regions/${other}.yaml.`;
}

/** Of all who live there, as steering has it; the sum, for only its order counts. */
function distance(cities: readonly City[], { geo }: Region): number {
  const at = unitVector([geo.latitude, geo.longitude]);
  const kilometersOfAll = cities.map(
    ({ latitude, longitude, population }) =>
      population * kilometers(unitVector([latitude, longitude]), at),
  );
  return kilometersOfAll.reduce((sum, it) => sum + it, 0) / (geo.weight ?? 1);
}
