import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { Secret } from '../../src/config/secret.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { createCsvTarget } from '../../src/targets/csv/csv-target.ts';
import type { FilePlace } from '../../src/targets/file/file-place.ts';
import {
  type GraphAddress,
  graphPlace,
  type GraphPlaceOptions,
} from '../../src/targets/msgraph/graph-file.ts';
import { openGraphAccount } from '../../src/targets/msgraph/graph-account.ts';
import {
  type MsGraphSandbox,
  sampleApp,
  sampleDrive,
  startMsGraphSandbox,
} from '../stand-ins/msgraph/msgraph-sandbox.ts';
import type { PlaceHarness } from './place-harness.ts';
import { contractFields, type LocalHarness } from './target-harness.ts';

export interface MsGraphHarness extends PlaceHarness {
  readonly sandbox: MsGraphSandbox;
  /** A new object for an address, as another process would have it. */
  at(address: GraphAddress): FilePlace;
  readonly options: GraphPlaceOptions;
  save(content: string | null): void;
}

/** A file of this name in a folder of a stand-in of Microsoft Graph. */
export async function msGraphHarness(name: string): Promise<MsGraphHarness> {
  const sandbox = await startMsGraphSandbox();
  const { drive } = sandbox.state;
  const folder = mkdtempSync(join(tmpdir(), 'leadsync-msgraph-'));
  const path = `Sales/${name}`;
  const makeOptions = (): GraphPlaceOptions => {
    const { tenant, clientId, secret } = sampleApp;
    const clientSecret = new Secret(secret?.value ?? '');
    const account = openGraphAccount({ tenant, clientId, clientSecret }, sandbox.loginUrl, systemClock);
    return { apiUrl: sandbox.apiUrl, account, clock: systemClock, folder };
  };
  const at = (address: GraphAddress): FilePlace => graphPlace(address, makeOptions());
  return {
    sandbox,
    at,
    options: makeOptions(),
    place: () => at({ drive: sampleDrive, path }),
    save: (content) =>
      content === null ? drive.remove(path) : void drive.save(path, Buffer.from(content), 'Anna'),
    show: () => drive.at(path)?.bytes.toString() ?? null,
    names: () => drive.paths(),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A CSV file there, edited by people meanwhile. */
export async function makeMsGraphHarness(): Promise<LocalHarness> {
  const harness = await msGraphHarness('leads.csv');
  const place = harness.place();
  const show = () => {
    const text = harness.sandbox.state.drive.at('Sales/leads.csv')?.bytes;
    return text === undefined ? null : parse(text, { bom: true, relax_column_count: true });
  };
  return {
    target: (options = {}) =>
      createCsvTarget(place, {
        fields: contractFields,
        idColumn: 'Lead ID',
        timeZone: 'Europe/Berlin',
        ...options,
      }),
    show,
    edit: (change) => harness.save(stringify(change(show() ?? []).map((row) => Array.from(row)))),
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}
