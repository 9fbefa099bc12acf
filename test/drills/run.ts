/** Finds drills and runs them, one after another. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonsOf } from '../../origin/reasons.ts';
import type { Drill, DrillResult, Figures } from './drill.ts';
import { Stage } from './stage.ts';

/** Milliseconds a drill may take. */
const LONGEST = 150_000;

const SUFFIX = '.drill.ts';

/** Every drill, in the order of their names. */
export async function allDrills(): Promise<Drill[]> {
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(SUFFIX));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const { drill }: { drill: Drill } = await import(join(import.meta.dirname, file));
      if (drill.name + SUFFIX !== file) throw new Error(`${file} has the drill ${drill.name}.`);
      return drill;
    }),
  );
}

/** Never rejects: a drill that breaks off has failed. Nothing of it stays behind. */
export async function runDrill(
  drill: Drill,
  interruption: AbortSignal,
  log: (line: string) => void,
): Promise<DrillResult> {
  const { name, holds } = drill;
  const start = performance.now();
  const misses: string[] = [];
  let figures: Figures | undefined;
  try {
    const signal = AbortSignal.any([interruption, AbortSignal.timeout(LONGEST)]);
    await using stage = new Stage({ signal, log });
    try {
      figures = await drill.run(stage);
    } finally {
      misses.push(...stage.misses);
    }
  } catch (error) {
    misses.push(`it broke off: ${reasonsOf(error)}`);
  }
  return { name, holds, misses, figures, seconds: (performance.now() - start) / 1000 };
}
