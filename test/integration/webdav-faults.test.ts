import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { DavHabits } from '../support/dav-server.ts';
import { davHarness } from '../contract/place-harness.ts';

const signal = new AbortController().signal;
async function* text(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content);
}

/** Replaces `old` by `new` while the server plays its fault; gives the outcome, and what people see. */
async function replaceWhile(
  fate: (method: string, nth: number) => 'lost' | 'unheard' | 'cut' | number | null,
  habits: DavHabits = {},
) {
  await using harness = await davHarness('leads.csv', habits);
  await harness.save('old');
  const location = await harness.place().locate(signal);
  await using original = await location.open(signal);
  await using writer = await location.startWriting(signal);
  const seen: Record<string, number> = {};
  harness.server.fate = (method) => fate(method, (seen[method] = (seen[method] ?? 0) + 1));
  const content = text('new'.repeat(100_000));
  const outcome = await writer.replace(original, content, signal).then(
    (replaced) => (replaced === null ? 'moved' : 'replaced'),
    (error: { code: string; retry: string }) => `${error.code} ${error.retry}`,
  );
  const shown = await harness.show();
  expect(readdirSync(harness.copies)).toEqual([]);
  return [
    outcome,
    shown?.startsWith('new') === true ? `new ${shown.length}` : shown,
    (await harness.names()).length,
  ];
}

// The first PUT asks whether If-Match is honoured.
test.each([
  ['the reply to an upload is lost', 'unheard', ['replaced', 'new 300000', 1]],
  ['an upload never arrives', 'lost', ['target.unavailable later', 'old', 1]],
  ['an upload breaks off', 'cut', ['target.unavailable later', 'old', 1]],
  ['the server fails', 502, ['target.unavailable later', 'old', 1]],
  ['the file is locked', 423, ['target.busy later', 'old', 1]],
  ['there is no more room', 507, ['target.disk-full later', 'old', 1]],
  ['the server asks to wait', 503, ['target.rate-limited later', 'old', 1]],
  ['this user may not write', 403, ['target.forbidden never', 'old', 1]],
] as const)('%s', async (_, fate, expected) => {
  const onUpload = (method: string, nth: number) => (method === 'PUT' && nth === 2 ? fate : null);
  expect(await replaceWhile(onUpload)).toEqual(expected);
});

test('where conditions are ignored, an upload that breaks off and a rename that is lost leave the file as it was', async () => {
  const habits = { isHeedless: true };
  const onPut = (method: string, nth: number) => (method === 'PUT' && nth === 2 ? 'cut' : null);
  expect(await replaceWhile(onPut, habits)).toEqual(['target.unavailable later', 'old', 1]);
  const lost = (method: string) => (method === 'MOVE' ? 'lost' : null);
  expect(await replaceWhile(lost, habits)).toEqual(['target.unavailable later', 'old', 1]);
  const unheard = (method: string) => (method === 'MOVE' ? 'unheard' : null);
  expect(await replaceWhile(unheard, habits)).toEqual(['replaced', 'new 300000', 1]);
});

test('a server that tells neither ETag nor date of a file could not show that somebody saved it: nothing is read', async () => {
  await using harness = await davHarness('leads.csv', { etags: 'undated' });
  await harness.save('old');
  const location = await harness.place().locate(signal);
  await expect(location.open(signal)).rejects.toMatchObject({
    code: 'target.unreadable',
    help: expect.stringContaining('ETag'),
  });
});

test('a file that nobody changed is not downloaded again', async () => {
  await using harness = await davHarness('leads.csv');
  await harness.save('old');
  const location = await harness.place().locate(signal);
  for (let times = 0; times < 3; times++) {
    await using file = await location.open(signal);
    expect(file?.size).toBe(3);
  }
  const state = await location.look(signal);
  expect(state?.contentTag).not.toBeNull();
  const downloads = harness.server.requests.filter((request) => request === 'GET /leads.csv');
  expect(downloads).toHaveLength(1);
});

test('a file of more than 8 MB is read and replaced', async () => {
  await using harness = await davHarness('leads.csv');
  await harness.save('x'.repeat(9_000_000));
  const location = await harness.place().locate(signal);
  await using file = await location.open(signal);
  expect(file?.size).toBe(9_000_000);
  await using writer = await location.startWriting(signal);
  expect(await writer.replace(file, text('y'.repeat(9_000_001)), signal)).toMatchObject({
    left: { size: 9_000_001 },
  });
});

test('a process that is killed while it has a copy leaves none', async () => {
  await using harness = await davHarness('leads.csv');
  await harness.save('old');
  const module = new URL('../../src/targets/webdav/webdav-file.ts', import.meta.url).href;
  const url = `${harness.server.origin}/leads.csv`;
  const program = `
    const { webDavPlace } = await import('${module}');
    const signal = new AbortController().signal;
    const where = ${JSON.stringify({ url, folder: harness.copies })};
    const location = await webDavPlace({ ...where, authorization: () => null }).locate(signal);
    await location.open(signal);
    process.kill(process.pid, 'SIGKILL');`;
  const ended = await new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', program], (error) => resolve(error?.signal));
  });
  expect([ended, readdirSync(harness.copies)]).toEqual(['SIGKILL', []]);
});
