/** What a process says to Prometheus, in its text format. */

/** The labels of each series, by metric. */
export type Exposed = ReadonlyMap<string, readonly Readonly<Record<string, string>>[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** @throws Error that shows a line which is not of that format. */
export function readExposition(...texts: readonly string[]): Exposed {
  const exposed = new Map<string, Record<string, string>[]>();
  for (const line of texts.join('\n').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = LINE.exec(line);
    if (!match) throw new Error(`This is no line of Prometheus' format: ${line}`);
    const labels = [...(match[2] ?? '').matchAll(LABEL)].map(([, name, value]) => [name!, value!]);
    const series = exposed.get(match[1]!) ?? [];
    series.push(Object.fromEntries(labels));
    exposed.set(match[1]!, series);
  }
  return exposed;
}
