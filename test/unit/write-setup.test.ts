import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SetupFiles } from '../../src/setup/setup-files.ts';
import { refuseExisting, writeSetup } from '../../src/setup/write-setup.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-write-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const files: SetupFiles = {
  yaml: 'connections: {}\n',
  env: 'LEADS_API_KEY_FILE=secrets/leads-api-key\n',
  secrets: new Map([['secrets/leads-api-key', 'a-key\n']]),
};
const yamlFile = () => join(folder, 'leadsync.yaml');
const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);
const all = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

test('only the owner can read what is written; nothing else is left', async () => {
  // As somebody may have made it.
  mkdirSync(join(folder, 'secrets'), { mode: 0o755 });
  expect(await writeSetup(files, yamlFile())).toEqual([
    'secrets/leads-api-key',
    'leadsync.env',
    'leadsync.yaml',
  ]);
  expect(all()).toEqual(['leadsync.env', 'leadsync.yaml', 'secrets', 'secrets/leads-api-key']);
  expect(['secrets', 'secrets/leads-api-key', 'leadsync.env'].map(modeOf)).toEqual(['700', '600', '600']);
});

test('no file is written over; what a killed call has left is taken up', async () => {
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets/leads-api-key'), 'a-key\n');
  await refuseExisting(files, yamlFile());
  expect(await writeSetup(files, yamlFile())).toEqual(['leadsync.env', 'leadsync.yaml']);
  expect(modeOf('secrets/leads-api-key')).toBe('600');

  writeFileSync(yamlFile(), 'mine\n');
  writeFileSync(join(folder, 'secrets/leads-api-key'), 'another-key\n');
  await expect(refuseExisting(files, yamlFile())).rejects.toMatchObject({
    code: 'usage.init-exists',
    message: expect.stringMatching(/^secrets\/leads-api-key and leadsync\.yaml are in /),
    help: expect.stringContaining('connections: {}'),
  });
  // Somebody was faster than us.
  await expect(writeSetup(files, yamlFile())).rejects.toMatchObject({ code: 'setup.not-written' });
  expect(readFileSync(yamlFile(), 'utf8')).toBe('mine\n');
  expect(readFileSync(join(folder, 'secrets/leads-api-key'), 'utf8')).toBe('another-key\n');
  expect(all().filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('in a git repository secrets and state are ignored before they are there; once', async () => {
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.gitignore'), 'node_modules\ndata/');
  expect(await writeSetup(files, yamlFile())).toContain('.gitignore');
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\ndata/\n/secrets/\n');
  rmSync(yamlFile());
  expect(await writeSetup(files, yamlFile())).toEqual(['leadsync.yaml']);
});

test('a folder that does not exist is made; one that is a file is a fault', async () => {
  await writeSetup(files, join(folder, 'new', 'leadsync.yaml'));
  expect(readdirSync(join(folder, 'new'))).toEqual(['leadsync.env', 'leadsync.yaml', 'secrets']);
  await expect(writeSetup(files, join(folder, 'new', 'leadsync.env', 'leadsync.yaml'))).rejects.toMatchObject(
    {
      code: 'setup.not-written',
      message: expect.stringContaining('nothing was written'),
    },
  );
});
