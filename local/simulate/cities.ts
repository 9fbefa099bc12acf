/** The population that a simulation replays: the cities in cities.csv, which names its source. */
import { readFile } from 'node:fs/promises';

const FILE = new URL('cities.csv', import.meta.url);

export interface City {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** Degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly population: number;
}

export async function readCities(): Promise<City[]> {
  const lines = (await readFile(FILE, 'utf8')).trimEnd().split('\n');
  return lines.filter((line) => !line.startsWith('#')).map(parseCity);
}

function parseCity(line: string): City {
  const [name, country, ...numbers] = line.split(',');
  const [latitude, longitude, population] = numbers.map(Number);
  if (!name || !country || !latitude || !longitude || !population) {
    throw new Error(`cities.csv has a line that is no city: ${line}`);
  }
  return { name, country, latitude, longitude, population };
}
