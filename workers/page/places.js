/** Places to call from when everything runs on one machine: what Cloudflare would say of a client there. */

/**
 * @typedef {object} Place
 * @property {string} name
 * @property {string} colo IATA code of the nearest Cloudflare colo.
 * @property {string} latitude In degrees, as text: that is how `request.cf` has it.
 * @property {string} longitude In degrees, as text.
 * @property {string} country ISO 3166-1 code.
 * @property {string} continent
 */

/** @type {readonly Place[]} */
export const PLACES = [
  place('Frankfurt', 'FRA', '50.11', '8.68', 'DE', 'EU'),
  place('London', 'LHR', '51.51', '-0.13', 'GB', 'EU'),
  place('Lagos', 'LOS', '6.52', '3.38', 'NG', 'AF'),
  place('New York', 'EWR', '40.71', '-74.01', 'US', 'NA'),
  place('San Francisco', 'SFO', '37.77', '-122.42', 'US', 'NA'),
  place('Mexico City', 'MEX', '19.43', '-99.13', 'MX', 'NA'),
  place('São Paulo', 'GRU', '-23.55', '-46.63', 'BR', 'SA'),
  place('Mumbai', 'BOM', '19.08', '72.88', 'IN', 'AS'),
  place('Singapore', 'SIN', '1.35', '103.82', 'SG', 'AS'),
  place('Tokyo', 'NRT', '35.68', '139.69', 'JP', 'AS'),
  place('Seoul', 'ICN', '37.57', '126.98', 'KR', 'AS'),
  place('Sydney', 'SYD', '-33.87', '151.21', 'AU', 'OC'),
];

/**
 * Request headers that make a local Miniflare take the client to be there. A deployed Worker never
 * reads them.
 *
 * @param {Place | undefined} from
 * @returns {Record<string, string>}
 */
export function placeHeaders(from) {
  if (!from) return {};
  const { colo, latitude, longitude, country, continent } = from;
  const cf = { colo, latitude, longitude, country, continent };
  return { 'MF-CF-Blob': JSON.stringify(cf) };
}

/**
 * @param {string} name
 * @param {string} colo
 * @param {string} latitude
 * @param {string} longitude
 * @param {string} country
 * @param {string} continent
 * @returns {Place}
 */
function place(name, colo, latitude, longitude, country, continent) {
  return { name, colo, latitude, longitude, country, continent };
}
