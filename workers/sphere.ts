/** Places on the earth as unit vectors: nearness is a dot product. */

/** Mean radius of the earth, IUGG. */
const EARTH_RADIUS_KM = 6371.0088;

const DECIMAL = /^-?\d{1,3}(\.\d{1,15})?$/;

/** Latitude and longitude in degrees. */
export type Coordinates = readonly [number, number];

export type Vector = readonly [number, number, number];

/** Of decimal text, as `request.cf` has it. Both or none: a latitude alone is no place. */
export function readCoordinates(
  latitude: string | undefined,
  longitude: string | undefined,
): Coordinates | undefined {
  const [north, east] = [degrees(latitude, 90), degrees(longitude, 180)];
  return north === undefined || east === undefined ? undefined : [north, east];
}

export function unitVector([latitude, longitude]: Coordinates): Vector {
  const phi = (latitude * Math.PI) / 180;
  const lambda = (longitude * Math.PI) / 180;
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

/** Kilometers along a great circle. */
export function kilometers(a: Vector, b: Vector): number {
  return arcKilometers(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

/** Kilometers along a great circle between two places. @param cosine Dot product of their unit vectors. */
export function arcKilometers(cosine: number): number {
  return Math.acos(Math.min(1, Math.max(-1, cosine))) * EARTH_RADIUS_KM;
}

function degrees(text: string | undefined, limit: number): number | undefined {
  if (typeof text !== 'string' || !DECIMAL.test(text)) return undefined;
  const value = Number(text);
  return Math.abs(value) <= limit ? value : undefined;
}
