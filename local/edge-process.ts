/** The edge as a process of its own: wrangler is heavy to load and holds on to signals. */
import process from 'node:process';
import { runService } from '../origin/parent.ts';
import type { SteeringTable } from '../protocol/footprint.ts';
import { startEdge, type Edge } from './edge.ts';
import { EDGE_OPTIONS_VARIABLE, type EdgeOptions } from './edge-options.ts';

export interface EdgeService {
  /** Base URL. */
  readonly ready: string;
  readonly answers: ReturnType<typeof answersOf>;
}

function answersOf(edge: Edge) {
  return { steer: (table: SteeringTable) => edge.steer(table) };
}

try {
  await runService(async () => {
    const options: EdgeOptions = JSON.parse(process.env[EDGE_OPTIONS_VARIABLE] ?? '');
    // It holds keys, which the programs that the edge starts have no use for.
    delete process.env[EDGE_OPTIONS_VARIABLE];
    const edge = await startEdge(options, (line) => console.error(`edge: ${line}`));
    return { ready: edge.url, answers: answersOf(edge), close: () => edge.close() };
  });
} catch {
  // Its parent has been told why.
  process.exit(1);
}
