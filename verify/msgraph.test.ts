import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { Secret } from '../src/config/secret.ts';
import { systemClock } from '../src/ports/clock.ts';
import {
  addressPath,
  driveItem,
  itemFields,
  graphPlace,
  uploadInParts,
} from '../src/targets/msgraph/graph-file.ts';
import { createCsvTarget } from '../src/targets/csv/csv-target.ts';
import { openGraphAccount, publicGraph } from '../src/targets/msgraph/graph-account.ts';
import { GraphHttp } from '../src/targets/msgraph/graph-http.ts';
import { describePlace } from '../test/contract/place.ts';
import type { PlaceHarness } from '../test/contract/place-harness.ts';
import { contractFields, type TargetHarness } from '../test/contract/target-harness.ts';
import { describeTargetThere } from '../test/contract/target.ts';
import { asker, env, needed } from './ask.ts';

needed(
  'and MSGRAPH_CLIENT_SECRET, of an app that may write to the drive of a site for tests',
  'MSGRAPH_TENANT',
  'MSGRAPH_CLIENT_ID',
  'VERIFY_DRIVE',
);
const url = (env['MSGRAPH_URL'] ?? publicGraph).replace(/\/+$/, '');
const drive = env['VERIFY_DRIVE'] ?? '';
const secret = (name: string) => (env[name] === undefined ? undefined : new Secret(env[name]));
const app = {
  tenant: env['MSGRAPH_TENANT'],
  clientId: env['MSGRAPH_CLIENT_ID'],
  clientSecret: secret('MSGRAPH_CLIENT_SECRET'),
};
const account = openGraphAccount(app, url, systemClock);
const { signal } = new AbortController();
const options = { apiUrl: `${url}/v1.0`, account, clock: systemClock };
const headers = async () => ({ authorization: `Bearer ${await account.token(signal)}` });
const ask = asker(options.apiUrl, headers);

/** A file of its own, which goes with it. */
async function liveFile(name: string) {
  const path = `leadsync verify ${randomUUID()} ${name}`;
  const copies = mkdtempSync(join(tmpdir(), 'leadsync-verify-'));
  const file = addressPath({ drive, path });
  const harness: PlaceHarness = {
    place: () => graphPlace({ drive, path }, { ...options, folder: copies }),
    save: async (content) =>
      void (await (content === null ? ask('DELETE', file) : ask('PUT', `${file}:/content`, content))),
    async show() {
      const { status, headers: told } = await ask('GET', `${file}:/content`);
      return status === 404 ? null : (await fetch(told.get('location') ?? '')).text();
    },
    // A file is replaced in one request: never is there another beside it.
    names: async () => ((await harness.show()) === null ? [] : [path]),
    async [Symbol.asyncDispose]() {
      await ask('DELETE', file);
      rmSync(copies, { recursive: true });
    },
  };
  const item = async () => driveItem.parse((await ask('GET', `${file}?$select=${itemFields}`)).body);
  return { ...harness, item };
}

/** A table there. */
async function liveTable(): Promise<TargetHarness> {
  const file = await liveFile('leads.csv');
  const show = async () => {
    const text = await file.show();
    return text === null ? null : parse(text, { bom: true, relax_column_count: true });
  };
  return {
    ...file,
    target: (changed) =>
      createCsvTarget(file.place(), {
        fields: contractFields,
        idColumn: 'Lead ID',
        timeZone: 'Europe/Berlin',
        ...changed,
      }),
    show,
    edit: async (change) => file.save(stringify(change((await show()) ?? []).map((row) => [...row]))),
  };
}

describePlace('on Microsoft Graph', liveFile);
describeTargetThere('csv on Microsoft Graph', liveTable);

test('an upload session stores at its end, unless the file was saved since', async () => {
  await using file = await liveFile('session.csv');
  await file.save('a');
  const [http, before] = [new GraphHttp('the file', options), await file.item()];
  const upload = { size: 8, chunks: () => Readable.from([Buffer.from('in parts')]) };
  expect((await uploadInParts(http, before, upload, async () => true, signal))?.size).toBe(8);
  expect(await uploadInParts(http, before, upload, async () => true, signal)).toBeNull();
  await file.save('theirs');
  expect(await file.show()).toBe('theirs');
});

test('the cTag moves with the content, and stays for ten seconds after a save', async () => {
  await using file = await liveFile('content.csv');
  await file.save('a');
  const before = await file.item();
  await file.save('b');
  const saved = await file.item();
  expect(saved.content).not.toBe(before.content);
  await sleep(Number(env['VERIFY_PAUSE_MS'] ?? 10_000));
  expect((await file.item()).content).toBe(saved.content);
});
