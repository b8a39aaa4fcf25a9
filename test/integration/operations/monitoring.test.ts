import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { Exposition } from '../../support/exposition.ts';
import { promtool } from '../../support/promtool.ts';
import { Workspace } from '../../support/workspace.ts';

const monitoring = fileURLToPath(new URL('../../../monitoring/', import.meta.url));

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

const placeSchema = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      gridPos: placeSchema,
      datasource: z.object({ uid: z.literal('${datasource}') }).optional(),
      targets: z
        .array(z.object({ expr: z.string(), datasource: z.object({ uid: z.literal('${datasource}') }) }))
        .default([]),
    }),
  ),
  templating: z.object({ list: z.array(z.object({ name: z.string(), definition: z.string().optional() })) }),
});

async function readRules() {
  const text = await readFile(join(monitoring, 'leadsync.rules.yaml'), 'utf8');
  return rulesSchema.parse(parse(text)).groups.flatMap(({ rules }) => rules);
}

async function readDashboard() {
  return dashboardSchema.parse(
    JSON.parse(await readFile(join(monitoring, 'grafana-dashboard.json'), 'utf8')),
  );
}

/** Every expression of the dashboard, with Grafana's variables as Grafana would fill them in. */
async function dashboardExpressions(): Promise<string[]> {
  const { panels, templating } = await readDashboard();
  const variables = templating.list.flatMap(({ definition }) => definition ?? []);
  const queries = variables.map(
    (text) => /^label_values\((\w+), \w+\)$/.exec(text)?.[1] ?? `no query: ${text}`,
  );
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...exprs, ...queries].map((expr) =>
    expr.replaceAll('$connection', '.*').replaceAll('$__rate_interval', '5m'),
  );
}

function metricsIn(expr: string): string[] {
  return expr.match(/\b(leadsync|process|nodejs)_[a-z_]+\b/g) ?? [];
}

test('every metric that the dashboard or an alert names is one that a worker tells', async () => {
  await using workspace = await Workspace.open();
  await using app = await workspace.openApp();
  const page = new Exposition(await (await app.metrics()).render());
  const exprs = [...(await dashboardExpressions()), ...(await readRules()).map(({ expr }) => expr)];
  const named = new Set(exprs.flatMap(metricsIn));
  expect(named.size).toBeGreaterThan(14);
  expect([...named].filter((name) => !page.types.has(name))).toEqual([]);
});

test('every alert names a command that helps, and has a test', async () => {
  const tests = await readFile(join(monitoring, 'leadsync.rules.test.yaml'), 'utf8');
  for (const { alert, annotations } of await readRules()) {
    expect(annotations.description, alert).toMatch(/`leadsync \w+/);
    expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`));
  }
});

test('the panels of the dashboard have ids of their own and do not overlap', async () => {
  const { panels } = await readDashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

describe('promtool', { tags: 'promtool' }, () => {
  test('finds the alert rules right, and each fires when it should and not before', async () => {
    const rules = join(monitoring, 'leadsync.rules.yaml');
    expect(await promtool(['check', 'rules', rules])).toMatchObject({ code: 0 });
    const { code, output } = await promtool(['test', 'rules', join(monitoring, 'leadsync.rules.test.yaml')]);
    expect(output).toContain('SUCCESS');
    expect(code).toBe(0);
  });

  test('understands every expression of the dashboard', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-promql-'));
    try {
      const rules = (await dashboardExpressions()).map((expr, index) => ({ record: `panel:${index}`, expr }));
      const file = join(folder, 'panels.yaml');
      await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
      expect(await promtool(['check', 'rules', file])).toMatchObject({ code: 0 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
