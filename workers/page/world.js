/** A plain map of the world (equirectangular), and where on it a place is. */

/** Units of the map for each degree; the outline in land.js is drawn for it. */
const SCALE = 4;

/** Degrees north and south between which the map lies, as people do. */
const NORTH = 78;
const SOUTH = -57;

/** @typedef {{ latitude: number, longitude: number }} Coordinates In degrees. */

export const MAP_WIDTH = 360 * SCALE;
export const MAP_HEIGHT = (NORTH - SOUTH) * SCALE;

/**
 * @param {Coordinates} place
 * @returns {readonly [number, number]} x and y, in whole units.
 */
export function project({ latitude, longitude }) {
  return [Math.round((longitude + 180) * SCALE), Math.round((NORTH - latitude) * SCALE)];
}
