import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { FilePlace } from '../../../src/targets/file/file-place.ts';
import { encodedLink } from '../../../src/targets/msgraph/graph-file.ts';
import { type MsGraphHarness, msGraphHarness } from '../../contract/msgraph-harness.ts';
import { type GraphIncident, sampleDrive } from '../../stand-ins/msgraph/msgraph-sandbox.ts';

const signal = new AbortController().signal;
const path = 'Sales/leads.csv';

/** Replaces the file as it is now; whether it was stored. */
async function replace(place: FilePlace, content: string | Buffer, during = () => {}): Promise<boolean> {
  const location = await place.locate(signal);
  await using writer = await location.startWriting(signal);
  await using original = await location.open(signal);
  during();
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from(content);
  };
  return (await writer.replace(original, chunks(), signal)) !== null;
}

async function read(place: FilePlace): Promise<string | undefined> {
  await using file = await (await place.locate(signal)).open(signal);
  return file === null ? undefined : (await file.head(file.size)).toString();
}

/** What happens to the first request of this kind alone. */
function once(harness: MsGraphHarness, kind: RegExp, incident: GraphIncident): void {
  let isOver = false;
  harness.sandbox.incident = ({ method, path: at }) => {
    if (isOver || !kind.test(`${method} ${at}`)) return undefined;
    isOver = true;
    return incident;
  };
}

const fileOf = (harness: MsGraphHarness) => harness.sandbox.state.drive.at(path);
const putting = /^PUT \/v1/;

test('a token that is rejected is renewed once, and never sent to the short-lived address', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.save('a');
  const place = harness.place();
  // The stand-in answers 401 to a token at such an address.
  expect(await read(place)).toBe('a');
  harness.sandbox.entra.revoke();
  harness.save('b');
  expect(await read(place)).toBe('b');
  expect(harness.sandbox.entra.given).toBe(2);
  harness.sandbox.incident = ({ path: at }) =>
    at.startsWith('/v1.0') ? { status: 401, body: {} } : undefined;
  await expect(read(place)).rejects.toMatchObject({ code: 'target.unauthenticated', retry: 'never' });
});

test('a file that somebody has open is put off; one that is checked out says by whom', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.save('a');
  const file = fileOf(harness);
  if (file === undefined) return expect.unreachable();
  file.isOpen = true;
  await expect(replace(harness.place(), 'b')).rejects.toMatchObject({ code: 'target.busy', retry: 'later' });
  Object.assign(file, { isOpen: false, checkedOutBy: 'Berta Braun' });
  const location = await harness.place().locate(signal);
  await expect(location.assertNotOpen(signal)).rejects.toMatchObject({
    code: 'target.busy',
    message: expect.stringContaining('checked out by Berta Braun'),
  });
  expect(harness.show()).toBe('a');
});

test('what is shown of a file may change without its content: the write goes on', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.save('a');
  const touch = () => void Object.assign(fileOf(harness) ?? {}, { tag: 9 });
  expect(await replace(harness.place(), 'b', touch)).toBe(true);
  let touches = 0;
  // Between the last look and the write.
  harness.sandbox.incident = ({ method }) => {
    if (method === 'PUT' && touches++ < 2) Object.assign(fileOf(harness) ?? {}, { tag: 20 + touches });
    return undefined;
  };
  expect(await replace(harness.place(), 'c')).toBe(true);
  expect(touches).toBe(3);
  expect(fileOf(harness)?.versions.map(String)).toEqual(['a', 'b']);
});

test.each([false, true])(
  'a save between the last look and the write is never overwritten (409: %s)',
  async (is409) => {
    await using harness = await msGraphHarness('leads.csv');
    harness.save('a');
    harness.sandbox.state.answers409 = is409;
    harness.sandbox.incident = ({ method }) => {
      if (method === 'PUT') harness.save('theirs');
      return undefined;
    };
    expect(await replace(harness.place(), 'ours')).toBe(false);
    expect(harness.show()).toBe('theirs');
  },
);

test('a lost reply of a write: what is there decides', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.save('a');
  once(harness, putting, 'lose-reply');
  expect(await replace(harness.place(), 'b'), 'it was carried out').toBe(true);
  once(harness, putting, 'lose-request');
  await expect(replace(harness.place(), 'c'), 'it was not').rejects.toMatchObject({
    code: 'target.unavailable',
    retry: 'later',
  });
  expect(harness.show()).toBe('b');
  expect(fileOf(harness)?.versions).toHaveLength(1);
});

test('SharePoint rewrites a workbook that was saved: it is read anew, and no edit is mistaken for ours', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.sandbox.rewrites = (bytes) => Buffer.concat([bytes, Buffer.from(' +properties')]);
  const place = harness.place();
  harness.save('a');
  expect(await replace(place, 'b')).toBe(true);
  expect(await read(place)).toBe('b +properties');
  expect(await replace(place, 'c')).toBe(true);
  expect(await replace(place, 'd', () => harness.save('theirs'))).toBe(false);
  expect(await read(place)).toBe('theirs');
});

test.each([
  [429, 'activityLimitReached', 'target.rate-limited'],
  [503, 'serviceNotAvailable', 'target.rate-limited'],
  [509, 'bandwidthLimitExceeded', 'target.rate-limited'],
  [507, 'quotaLimitReached', 'target.disk-full'],
  [403, 'accessDenied', 'target.forbidden'],
  [500, 'generalException', 'target.unavailable'],
])(
  '%i %s is %s, and nothing is sent before the time that Microsoft asked for',
  async (status, code, ours) => {
    await using harness = await msGraphHarness('leads.csv');
    harness.save('a');
    const place = harness.place();
    const body = { error: { code, message: 'Please wait.', innerError: {} } };
    once(harness, putting, { status, headers: { 'retry-after': '30' }, body });
    const error: unknown = await replace(place, 'b').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: ours });
    expect(harness.show()).toBe('a');
    if (ours !== 'target.rate-limited') return;
    expect(error).toMatchObject({ retry: 'later', retryAfterMs: 30_000 });
    const sent = harness.sandbox.requests.length;
    await expect(read(place)).rejects.toMatchObject({ code: 'target.rate-limited' });
    expect(harness.sandbox.requests).toHaveLength(sent);
  },
);

test('a link leads to a workbook that the app may write, and to nothing else', async () => {
  await using harness = await msGraphHarness('leads.csv');
  harness.save('a');
  const { state } = harness.sandbox;
  const link = 'https://contoso.sharepoint.com/:x:/s/sales/EaBcDeFg?e=1';
  const lookAt = async (address: Parameters<typeof harness.at>[0]) =>
    (await harness.at(address).locate(signal)).look(signal);
  state.links.set(encodedLink(link), fileOf(harness)?.id ?? '');
  await expect(lookAt({ link })).rejects.toMatchObject({
    code: 'target.unreadable',
    message: expect.stringContaining('no Excel workbook'),
  });
  state.drive.move(path, 'Sales/leads.xlsx');
  const linked = await harness.at({ link }).locate(signal);
  expect((await linked.look(signal))?.size).toBe(1);
  expect(linked.id).toBe(
    (await harness.at({ drive: sampleDrive, path: '/sales/LEADS.xlsx' }).locate(signal)).id,
  );
  state.grant = 'none';
  await expect(lookAt({ link })).rejects.toMatchObject({
    code: 'target.forbidden',
    help: expect.stringContaining('/permissions'),
  });
  state.grant = 'read';
  await expect(replace(harness.at({ link }), 'b')).rejects.toMatchObject({ code: 'target.forbidden' });
});

test('a large file is uploaded in parts, and stored only while nobody has saved', async () => {
  await using harness = await msGraphHarness('leads.csv');
  const { uploadInParts } = await import('../../../src/targets/msgraph/graph-file.ts');
  const { GraphHttp } = await import('../../../src/targets/msgraph/graph-http.ts');
  const { driveItem } = await import('../../../src/targets/msgraph/graph-file.ts');
  harness.save('a');
  const http = new GraphHttp('leads.csv', harness.options);
  const itemAt = () => http.read({ path: `/drives/${sampleDrive}/root:/${path}` }, driveItem, signal);
  const content = randomBytes(21 * 1024 * 1024);
  const upload = {
    size: content.length,
    async *chunks() {
      for (let at = 0; at < content.length; at += 1_000_000) yield content.subarray(at, at + 1_000_000);
    },
  };
  const put = async (isSame: () => Promise<boolean>) =>
    uploadInParts(http, await itemAt(), upload, isSame, signal);
  expect(await put(async () => true)).toMatchObject({ size: content.length });
  expect(fileOf(harness)?.bytes.equals(content)).toBe(true);
  once(harness, /^PUT \/upload/, 'lose-reply');
  await expect(put(async () => true)).rejects.toMatchObject({ code: 'target.unavailable' });
  const stale = { ...(await itemAt()), eTag: '"{X},1"' };
  expect(await uploadInParts(http, stale, upload, async () => true, signal)).toBeNull();
  harness.sandbox.incident = () => undefined;
  expect(await put(async () => false), 'somebody saved meanwhile').toBeNull();
  expect(harness.sandbox.state.uploads.size, 'what was uploaded is deleted').toBe(0);
});
