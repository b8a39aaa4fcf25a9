import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { configJsonSchemaText, settingsTable } from '../docs/settings-pages.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Setting, settings } from '../../src/config/settings.ts';

const root = new URL('../../', import.meta.url);
const all: readonly Setting[] = settings;

const part = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  items: z.looseObject({ type: z.string().optional() }).optional(),
  // Of a mapping the defaults are those of its keys.
  default: z
    .union([
      z.string(),
      z.union([z.number(), z.boolean()]).transform(String),
      z.array(z.string()).transform((list) => `[${list.join(', ')}]`),
      z.looseObject({}).transform(() => undefined),
    ])
    .optional(),
});

/** The places of the schema at which a value can be written, with their defaults; `*` stands for any name. */
function places(schema: unknown, path = ''): readonly (readonly [string, string | undefined])[] {
  const { properties, additionalProperties, anyOf, oneOf, items, default: preset } = part.parse(schema);
  const below = (key: string) => (path === '' ? key : `${path}.${key}`);
  const inner = [
    ...Object.entries(properties ?? {}).flatMap(([key, value]) => places(value, below(key))),
    ...(typeof additionalProperties === 'object' ? places(additionalProperties, below('*')) : []),
    ...(items?.type === 'object' ? places(items, below('*')) : []),
    ...[...(anyOf ?? []), ...(oneOf ?? [])].flatMap((form) => places(form, path)),
  ];
  return inner.length === 0 || anyOf !== undefined
    ? [...inner.filter(([at]) => at !== path), [path, preset]]
    : inner;
}

test('leadsync.schema.json is what `npm run schema` writes now', async () => {
  expect(await readFile(new URL('leadsync.schema.json', root), 'utf8')).toBe(configJsonSchemaText());
});

test('each key of the file is a setting exactly once, with its default', () => {
  const schema = places(JSON.parse(configJsonSchemaText()));
  const known = all.flatMap(({ path }) => (path === undefined ? [] : [path.replaceAll(/\b[A-Z]+\b/g, '*')]));
  // Kinds of targets share some keys.
  const written = new Set(schema.map(([path]) => path));
  expect(known.toSorted()).toEqual([...written].toSorted());
  const presets = new Map(schema);
  for (const setting of all.filter(({ path }) => path !== undefined)) {
    const preset = presets.get(setting.path?.replaceAll(/\b[A-Z]+\b/g, '*') ?? '');
    expect([setting.path, setting.default]).toEqual([setting.path, preset]);
  }
});

test('each variable that is read is a setting exactly once, and the other way round', async () => {
  const read = new Set<string>();
  const values: NodeJS.ProcessEnv = {
    LEADS_BASE_URL: 'https://x',
    LEADS_API_KEY: 'k',
    TARGET: 'x.csv',
    REMINDER_TO: 'a@b.c',
  };
  const env = new Proxy(values, {
    get(target, name) {
      if (typeof name === 'symbol') return undefined;
      read.add(name);
      return target[name];
    },
  });
  await loadConfig({ env, cwd: '/nonexistent' });
  // OpenTelemetry's own are no settings of leadsync.
  const ours = [...read].filter((name) => !name.startsWith('OTEL_'));
  const expected = all.flatMap(({ variable, secret }) => {
    if (variable === undefined) return [];
    return secret === true ? [variable, `${variable}_FILE`] : [variable];
  });
  expect(expected.toSorted()).toEqual(ours.toSorted());
});

test('the defaults of process-wide settings are those of the table', async () => {
  const env = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET: 'x.csv' };
  const written = all.flatMap((setting) =>
    setting.variable !== undefined && setting.default !== undefined
      ? [[setting.variable, setting.default] as const]
      : [],
  );
  const load = (more: NodeJS.ProcessEnv) => loadConfig({ env: { ...env, ...more }, cwd: '/nonexistent' });
  expect(await load(Object.fromEntries(written))).toEqual(await load({}));
});

test('the table of docs/settings.md has a row for each setting; the long form of one is no other', () => {
  const rows = settingsTable().trimEnd().split('\n');
  expect(rows).toHaveLength(settings.length - 1 + 2);
  expect(rows.length - 2).toBeLessThanOrEqual(83);
  for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(4);
  expect(settingsTable()).toContain('|`connections.NAME.leads.apiKey` `LEADS_API_KEY` `LEADS_API_KEY_FILE`|');
});

test('leadsync.example.yaml loads and points editors to the schema', async () => {
  const example = new URL('leadsync.example.yaml', root);
  expect(await readFile(example, 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=\.\/leadsync\.schema\.json\n/,
  );
  const cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
  try {
    await copyFile(example, join(cwd, 'leadsync.yaml'));
    const config = await loadConfig({ env: { LEADS_API_KEY: 'k', SMTP_URL: 'smtp://mail' }, cwd });
    expect(config.connections.map(({ name }) => name)).toEqual(['berlin', 'hamburg']);
    expect(config.connections[1]?.sync).toMatchObject({ schedule: '0 2 * * *', timeZone: 'UTC' });
  } finally {
    await rm(cwd, { recursive: true });
  }
});
