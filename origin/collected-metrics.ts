/** Metrics for Prometheus whose values are read from where they are counted when somebody asks. */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

type Labels = Readonly<Record<string, string>>;
/** Adds a value to a metric, under these labels. */
export type Add = (value: number, labels?: Labels) => void;

export class CollectedMetrics {
  /** Holds those of the process itself, too: memory, CPU time, lag of the event loop. */
  readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  counter(name: string, help: string, labelNames: string[], collect: (add: Add) => void): void {
    const counter = new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        collect((value, labels = {}) => counter.inc(labels, value));
      },
    });
  }

  gauge(name: string, help: string, labelNames: string[], collect: (add: Add) => void): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: () => {
        gauge.reset();
        collect((value, labels = {}) => gauge.set(labels, value));
      },
    });
  }
}
