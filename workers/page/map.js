/** Draws the world with its regions, the caller, and the way that the media of the call takes. */
import { LAND } from './land.js';
import { svg } from './svg.js';
import { MAP_HEIGHT, MAP_WIDTH, project } from './world.js';

/** @typedef {readonly [number, number]} Point */

/**
 * @typedef {object} MapState
 * @property {readonly import('./where.js').Region[]} regions
 * @property {string | undefined} down A region whose relay is being started again.
 * @property {import('./world.js').Coordinates | undefined} client
 * @property {string} clientName
 * @property {{ entry: string, cluster: string, transceiver: string, lit: boolean, transport: string } | undefined} call
 */

/** Units between the caller and a region at least, so that a way shows where both are in one city. */
const LEAST_DISTANCE = 90;

/** How far a way bends from the straight line, as a share of its length. */
const BEND = 0.18;

/** Regions above which only those of the call are labeled; the others say who they are when pointed at. */
const MAX_LABELS = 8;

/** Share of the map's width from which labels stand to the left of their mark. */
const LABELS_LEFT_FROM = 0.8;

/**
 * @param {Element} map An SVG element.
 * @param {MapState} state
 */
export function drawMap(map, state) {
  if (!map.querySelector('.land')) {
    map.setAttribute('viewBox', `0 0 ${MAP_WIDTH} ${MAP_HEIGHT}`);
    map.append(svg('path', { class: 'land', d: LAND }), svg('g', { class: 'drawn' }));
  }
  map
    .querySelector('.drawn')
    ?.replaceChildren(...waysOf(state), ...regionsOf(state), ...caller(state));
}

/**
 * @param {MapState} state
 * @returns {string} All that the map shows, in words.
 */
export function describeMap({ regions, down, clientName, call }) {
  const names = regions.map(({ region, state }) => {
    if (region === down) return `${region}, whose relay is down`;
    return state === 'draining' ? `${region}, which drains` : region;
  });
  const all = `Regions: ${names.join('; ')}.`;
  if (!call) return `${all} ${clientName} is marked; there is no call.`;
  const over = call.entry === call.cluster ? '' : ` and over the trunk to ${call.cluster}`;
  const flow = call.lit ? 'Media flows' : 'Media will flow';
  return `${all} ${flow} from ${clientName} to the relay in ${call.entry}${over}, to transceiver ${call.transceiver}.`;
}

/** @param {MapState} state */
function waysOf({ regions, client, call }) {
  const entry = placeOf(regions, call?.entry);
  const home = placeOf(regions, call?.cluster);
  if (!call || !entry || !client) return [];
  const classes = call.lit ? `way lit ${call.transport}` : 'way';
  const ways = [svg('path', { class: classes, d: arc(placeOfCaller(client, regions), entry) })];
  if (home && home !== entry && call.entry !== call.cluster) {
    ways.push(
      svg('path', { class: call.lit ? 'way lit trunk' : 'way trunk', d: arc(entry, home) }),
    );
  }
  return ways;
}

/** @param {MapState} state */
function regionsOf({ regions, down, call }) {
  return regions.map((region) => {
    const [x, y] = project(region);
    const isEntry = region.region === call?.entry;
    const isHome = region.region === call?.cluster;
    const state = region.region === down ? 'down' : region.state;
    const labeled = regions.length <= MAX_LABELS || isEntry || isHome;
    const isLeft = x > MAP_WIDTH * LABELS_LEFT_FROM;
    const at = { x: isLeft ? -18 : 18, 'text-anchor': isLeft ? 'end' : 'start' };
    const lines = [
      region.region,
      noteOf(state),
      ...(call && isHome ? [roles(call)] : []),
      ...(call && isEntry && !isHome ? ['relay'] : []),
    ];
    const label = lines
      .filter((line) => line !== '')
      .map((line, i) =>
        svg('tspan', { ...at, dy: i === 0 ? 0 : '1.2em', class: i === 0 ? 'name' : 'note' }, line),
      );
    return svg(
      'g',
      {
        class: `region ${state}${isEntry || isHome ? ' used' : ''}`,
        transform: `translate(${x} ${y})`,
      },
      svg('title', {}, lines.join(', ')),
      svg('rect', { x: -9, y: -9, width: 18, height: 18, rx: 4 }),
      ...(state === 'active'
        ? []
        : [svg('path', { class: 'mark', d: state === 'down' ? 'M-5-5 5 5M5-5-5 5' : 'M-5 0H5' })]),
      ...(labeled ? [svg('text', { y: 6, ...at }, ...label)] : []),
    );
  });
}

/** @param {string} state */
function noteOf(state) {
  if (state === 'down') return 'relay is down';
  return state === 'draining' ? 'draining: no new calls' : '';
}

/** @param {NonNullable<MapState['call']>} call */
function roles({ entry, cluster, transceiver }) {
  return `${entry === cluster ? 'relay → ' : ''}transceiver ${transceiver}`;
}

/** @param {MapState} state */
function caller({ regions, client, clientName, call }) {
  if (!client) return [];
  const [x, y] = placeOfCaller(client, regions);
  return [
    svg(
      'g',
      { class: call?.lit ? 'caller lit' : 'caller', transform: `translate(${x} ${y})` },
      svg('title', {}, clientName),
      svg('circle', { r: 16, class: 'halo' }),
      svg('circle', { r: 8 }),
      svg(
        'text',
        { x: 0, y: 38, 'text-anchor': 'middle' },
        svg('tspan', { class: 'name' }, clientName),
      ),
    ),
  ];
}

/**
 * @param {readonly import('./where.js').Region[]} regions
 * @param {string | undefined} name
 * @returns {Point | undefined}
 */
function placeOf(regions, name) {
  const found = regions.find(({ region }) => region === name);
  return found && project(found);
}

/**
 * @param {import('./world.js').Coordinates} client
 * @param {readonly import('./where.js').Region[]} regions
 * @returns {Point} Where it is; next to a region, further from it, to the south-west, so that both can be seen.
 */
function placeOfCaller(client, regions) {
  const [x, y] = project(client);
  const close = regions.map(project).find(([a, b]) => Math.hypot(a - x, b - y) < LEAST_DISTANCE);
  if (!close) return [x, y];
  const [a, b] = close;
  const far = Math.hypot(x - a, y - b);
  const [dx, dy] = far < 1 ? [-0.7, 0.7] : [(x - a) / far, (y - b) / far];
  return [Math.round(a + dx * LEAST_DISTANCE), Math.round(b + dy * LEAST_DISTANCE)];
}

/**
 * @param {Point} from
 * @param {Point} to
 */
function arc([x, y], [a, b]) {
  const [dx, dy] = [a - x, b - y];
  // To the north where the way is long, as great circles go there on such a map.
  const side = dx >= 0 ? 1 : -1;
  const [cx, cy] = [(x + a) / 2 + dy * BEND * side, (y + b) / 2 - dx * BEND * side];
  return `M${x} ${y}Q${Math.round(cx)} ${Math.round(cy)} ${a} ${b}`;
}
