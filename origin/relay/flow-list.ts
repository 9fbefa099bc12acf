/** Flows in the order they were last seen, linked through themselves: every step is O(1). */
import type { Flow } from './flow.ts';

export class FlowList {
  oldest: Flow | undefined;
  #newest: Flow | undefined;
  size = 0;

  append(flow: Flow): void {
    flow.older = this.#newest;
    flow.newer = undefined;
    if (this.#newest) this.#newest.newer = flow;
    else this.oldest = flow;
    this.#newest = flow;
    this.size++;
  }

  remove(flow: Flow): void {
    if (flow.older) flow.older.newer = flow.newer;
    else this.oldest = flow.newer;
    if (flow.newer) flow.newer.older = flow.older;
    else this.#newest = flow.older;
    flow.older = undefined;
    flow.newer = undefined;
    this.size--;
  }

  refresh(flow: Flow): void {
    if (flow === this.#newest) return;
    this.remove(flow);
    this.append(flow);
  }
}
