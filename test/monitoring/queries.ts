/** Every query of monitoring/, with what it is for. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { parse } from 'yaml';

export const MONITORING = fileURLToPath(new URL('../../monitoring/', import.meta.url));
export const ALERTS_FILE = `${MONITORING}alerts.yaml`;

const AlertSchema = v.strictObject({
  alert: v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z]+$/)),
  expr: v.string(),
  for: v.optional(v.pipe(v.string(), v.regex(/^\d+m$/))),
  labels: v.strictObject({ severity: v.picklist(['page', 'ticket']) }),
  annotations: v.strictObject({ summary: v.string(), runbook_url: v.string() }),
});
export type Alert = v.InferOutput<typeof AlertSchema>;

const RulesSchema = v.strictObject({
  groups: v.array(v.strictObject({ name: v.string(), rules: v.array(AlertSchema) })),
});

const DatasourceSchema = v.strictObject({
  type: v.literal('prometheus'),
  uid: v.literal('${datasource}'),
});

/** Of a panel, what a query depends on and what a reader needs. */
const PanelSchema = v.object({
  id: v.number(),
  type: v.picklist(['row', 'stat', 'timeseries']),
  title: v.pipe(v.string(), v.minLength(1)),
  description: v.optional(v.pipe(v.string(), v.minLength(1))),
  datasource: v.optional(DatasourceSchema),
  gridPos: v.strictObject({ x: v.number(), y: v.number(), w: v.number(), h: v.number() }),
  targets: v.optional(
    v.array(v.strictObject({ refId: v.string(), expr: v.string(), legendFormat: v.string() })),
  ),
});
export type Panel = v.InferOutput<typeof PanelSchema>;

const DashboardSchema = v.object({
  uid: v.string(),
  title: v.string(),
  templating: v.object({
    list: v.array(v.object({ name: v.string(), definition: v.optional(v.string()) })),
  }),
  panels: v.array(PanelSchema),
});
export type Dashboard = v.InferOutput<typeof DashboardSchema>;

export async function readAlerts(): Promise<Alert[]> {
  const { groups } = v.parse(RulesSchema, parse(await readFile(ALERTS_FILE, 'utf8')));
  return groups.flatMap(({ rules }) => rules);
}

/** By file name. */
export async function readDashboards(): Promise<Record<string, Dashboard>> {
  const files = (await readdir(`${MONITORING}dashboards`)).filter((file) => file.endsWith('.json'));
  const read = files.map(async (file) => {
    const text = await readFile(`${MONITORING}dashboards/${file}`, 'utf8');
    return [file, v.parse(DashboardSchema, JSON.parse(text))] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** What Prometheus is asked when a panel is shown: Grafana puts values in place of its variables. */
export function asked(expression: string): string {
  return expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(region|instance)/g, '.*');
}
