/** Alerts and dashboards read what real processes say, and every alert has its section in the runbooks. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RelayProcess, relayConfig } from '../../origin/relay/testing/relay-command.ts';
import { RedisServer } from '../../origin/redis/testing/redis-server.ts';
import { EXIT } from '../../local/ops/ops-command.ts';
import { opsRun } from '../../local/ops/testing/ops-run.ts';
import { startStack } from '../../local/stack.ts';
import { stunCheck } from '../support/stun-check.ts';
import { findProgram } from '../support/find-program.ts';
import { UdpClient } from '../support/udp-client.ts';
import { until } from '../support/until.ts';
import { readExposition, type Exposed } from './exposition.ts';
import { readQuery, type Selector } from './promql.ts';
import { ALERTS_FILE, asked, MONITORING, readAlerts, readDashboards } from './queries.ts';

/** What Prometheus itself knows, and the labels that it gives every series of a target. */
const OF_PROMETHEUS = new Set(['up', 'ALERTS']);
const TARGET_LABELS = ['job', 'instance', 'region'];

/** Its own of `ALERTS`. */
const ALERT_LABELS = ['alertname', 'alertstate'];

/** Columns that Grafana has. */
const GRID_WIDTH = 24;

const RUNBOOKS = new URL('../../docs/runbooks.md', import.meta.url);

const alerts = await readAlerts();
const dashboards = await readDashboards();
const panels = Object.entries(dashboards).flatMap(([file, { panels: all }]) =>
  all.map((panel) => ({ file, panel })),
);
const queries = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ file, panel }) =>
    (panel.targets ?? []).map(({ expr }) => [`${file}: ${panel.title}`, asked(expr)] as const),
  ),
];

/** After a whole call: what a region's relay and transceiver say, and a relay with a Redis of its own. */
async function expose(): Promise<Exposed> {
  // The others have nobody to take the call.
  const transceivers = { 'us-east-1': 1, 'eu-central-1': 0, 'ap-northeast-1': 0 };
  const stack = await startStack({ transceivers });
  onTestFinished(() => stack.close());
  expect((await opsRun(['probe', stack.edge])).code).toBe(EXIT.ok);
  const region = stack.regions.get('us-east-1')!;
  await using client = await UdpClient.open();
  await client.send(stunCheck(`L${'A'.repeat(22)}`, 'clnt', 'password'), region.relays[0]!);
  await until(async () => (await region.relayCounters()).drops.forged > 0);
  const redis = await RedisServer.started();
  const relay = await RelayProcess.started(await relayConfig(), redis.url);
  return readExposition(
    await textOf(fetch(`${region.admin}/metrics`)),
    await textOf(fetch(`${region.admin}/transceivers/1/metrics`)),
    await textOf(relay.get('/metrics')),
  );
}

async function textOf(response: Promise<Response>): Promise<string> {
  return (await response).text();
}

/** What is wrong with what a query reads, in words. */
function faultsOf(name: string, query: string, exposed: Exposed): string[] {
  const { selectors, groupings } = readQuery(query);
  const labels = selectors.flatMap(({ metric }) => labelsOf(metric, exposed));
  const strange = groupings.filter((label) => ![...TARGET_LABELS, ...labels].includes(label));
  return [
    ...selectors.flatMap((selector) => faultsOfSelector(selector, exposed)),
    ...strange.map((label) => `groups by ${label}, which nothing has`),
  ].map((fault) => `${name}: ${fault}`);
}

function faultsOfSelector({ metric, matchers }: Selector, exposed: Exposed): string[] {
  if (OF_PROMETHEUS.has(metric)) return [];
  const series = exposed.get(metric);
  if (!series) return [`no process has ${metric}`];
  const own = matchers.filter(({ label }) => !TARGET_LABELS.includes(label));
  return own.flatMap(({ label, operator, value }) => {
    const wanted = operator === '=~' ? value.split('|') : [value];
    const known = new Set(series.map((labels) => labels[label]));
    return wanted
      .filter((one) => !known.has(one))
      .map((one) => `${metric} is never of ${label} ${one}`);
  });
}

function labelsOf(metric: string, exposed: Exposed): string[] {
  if (metric === 'ALERTS') return ALERT_LABELS;
  return (exposed.get(metric) ?? []).flatMap((labels) => Object.keys(labels));
}

test('every query reads metrics, labels and values that real processes have', async () => {
  const exposed = await expose();
  const faults = queries.flatMap(([name, query]) => faultsOf(name, query, exposed));
  expect(faults).toEqual([]);
  // What the check would find.
  expect(faultsOf('a', 'sum by (nobody) (relay_drops_total{reason="no"})', exposed)).toEqual([
    'a: relay_drops_total is never of reason no',
    'a: groups by nobody, which nothing has',
  ]);
  expect(faultsOf('a', 'relay_nothing', exposed)).toEqual(['a: no process has relay_nothing']);
  expect(() => readQuery('sum by (reason (relay_drops_total)')).toThrow('This is no PromQL');
});

describe('an alert', () => {
  test('is told apart by its name', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  test('has a section in the runbooks, and no section is without its alert', async () => {
    const text = await readFile(RUNBOOKS, 'utf8');
    const sections = [...text.matchAll(/^### (.+)$/gm)].map(([, title]) => title!);
    expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    }
  });

  test('says in its runbook what users feel, where to look, why, what to do and how to see that it is done', async () => {
    const [, ...sections] = (await readFile(RUNBOOKS, 'utf8')).split(/^### /m);
    for (const section of sections) {
      const [title] = section.split('\n');
      const parts = [...section.matchAll(/^- \*\*(.+?)\*\*:/gm)].map(([, part]) => part);
      expect([title, ...parts]).toEqual([
        title,
        'Users feel',
        'Look first',
        'Causes',
        'Fix',
        'Verify',
      ]);
    }
  });

  test('fires in a region that is unwell and in no other, as promtool sees it', async ({
    skip,
  }) => {
    const promtool = findProgram('promtool');
    if (promtool === undefined) {
      skip(
        'promtool is not on this machine, so whether alerts fire was not tested; get it from https://prometheus.io/download/',
      );
    }
    const run = promisify(execFile);
    await expect(run(promtool!, ['check', 'rules', ALERTS_FILE])).resolves.toBeDefined();
    const file = `${MONITORING}alerts.promtool.yaml`;
    await expect(run(promtool!, ['test', 'rules', file])).resolves.toBeDefined();
    // Each alert is among those that must fire.
    const text = await readFile(file, 'utf8');
    for (const { alert } of alerts) expect(text).toContain(`alertname="${alert}", region="bad"`);
  });
});

describe('a dashboard', () => {
  test.each(Object.entries(dashboards))(
    '%s shows each panel in its own place',
    (_file, { panels: all }) => {
      const ids = all.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
      );
      expect(new Set(cells).size).toBe(cells.length);
      expect(all.every(({ gridPos: { x, w } }) => x + w <= GRID_WIDTH)).toBe(true);
    },
  );

  test.each(Object.entries(dashboards))('%s explains what it shows', (_file, { panels: all }) => {
    const shown = all.filter(({ type }) => type !== 'row');
    expect(shown.filter((panel) => !panel.description || !panel.datasource)).toEqual([]);
    expect(shown.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  });

  test.each(Object.entries(dashboards))('%s asks by variables that it has', (_file, dashboard) => {
    const known = dashboard.templating.list.map(({ name }) => name);
    const used = JSON.stringify(dashboard).matchAll(/\$\{?([a-z]+)/g);
    for (const [, name] of used) expect(known).toContain(name);
  });
});
