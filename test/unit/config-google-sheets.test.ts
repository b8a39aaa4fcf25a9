import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { targetName } from '../../src/config/config.ts';
import { mistakesIn } from './config-file-scene.ts';

const minimal = { LEADS_BASE_URL: 'https://api.example.com', LEADS_API_KEY: 'k' };
const id = '1AbC-dEf_0123456789';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

test.each([
  [`google-sheets:${id}/Leads`, 'Leads'],
  [`google-sheets:${id}/Leads 2026/27 "ü"`, 'Leads 2026/27 "ü"'],
  [`google-sheets:${id}`, 'Leads'],
  [`google-sheets:https://docs.google.com/spreadsheets/d/${id}/edit?gid=0#gid=0`, 'Leads'],
  [`google-sheets:${id}/`, 'Leads'],
  [`Google-Sheets:${id}/x`, 'x'],
])('TARGET=%s', async (TARGET, tab) => {
  const config = await loadConfig({ env: { ...minimal, TARGET }, cwd });
  const target = config.connections[0]?.target;
  expect(target).toEqual({
    type: 'google-sheets',
    spreadsheetId: id,
    tab,
    idColumn: 'Lead ID',
  });
  expect(target && targetName(target)).toBe(`google-sheets:${id}/${tab}`);
});

test('the key file is relative to the current folder', async () => {
  const env = { ...minimal, TARGET: `google-sheets:${id}/L`, GOOGLE_APPLICATION_CREDENTIALS: 'keys/a.json' };
  expect((await loadConfig({ env, cwd })).googleCredentials).toBe(join(cwd, 'keys/a.json'));
});

const connection = (name: string, target: string): string =>
  `  ${name}:\n    leads: { baseUrl: https://x, apiKey: k }\n    target: { type: google-sheets, ${target} }\n`;

test.each([
  id,
  `https://docs.google.com/spreadsheets/d/${id}`,
  `https://docs.google.com/spreadsheets/d/${id}/edit?gid=0#gid=0`,
  `https://docs.google.com/spreadsheets/u/1/d/${id}/edit`,
])('the spreadsheet %s in the file', async (spreadsheet) => {
  const options = `spreadsheet: "${spreadsheet}", tab: L`;
  await writeFile(join(cwd, 'leadsync.yaml'), `connections:\n${connection('a', options)}`);
  expect((await loadConfig({ env: {}, cwd })).connections[0]?.target).toMatchObject({
    spreadsheetId: id,
  });
});

test.each(['pubhtml', 'pub?output=csv'])(
  'a published copy (%s) is no spreadsheet to work in',
  async (page) => {
    const published = `https://docs.google.com/spreadsheets/d/e/2PACX-1vQ_x/${page}`;
    const options = `spreadsheet: "${published}"`;
    await writeFile(join(cwd, 'leadsync.yaml'), `connections:\n${connection('a', options)}`);
    const mistakes = await mistakesIn(loadConfig({ env: {}, cwd }));
    expect(mistakes.map(({ path, message }) => [path, message])).toEqual([
      ['connections.a.target.spreadsheet', expect.stringContaining('a published copy')],
    ]);
  },
);

test('two connections on one tab, one of them named by its address', async () => {
  const content = [
    'connections:',
    connection('a', `spreadsheet: ${id}`),
    connection('b', `spreadsheet: "https://docs.google.com/spreadsheets/d/${id}/edit", tab: leads`),
    connection('c', `spreadsheet: ${id}, tab: Other`),
  ].join('\n');
  await writeFile(join(cwd, 'leadsync.yaml'), content);
  const mistakes = await mistakesIn(loadConfig({ env: {}, cwd }));
  expect(mistakes.map(({ path, message }) => [path, message])).toEqual([
    ['connections.b.target.tab', 'must be another tab: connection a writes to this one'],
  ]);
});
