import { relative, resolve } from 'node:path';
import { isWebAddress } from '../config/addresses.ts';
import type { TargetAnswer } from '../setup/answers.ts';
import type { FoundTable } from '../setup/found-table.ts';
import { type FileAddress, lookAtFile, tablesIn } from '../setup/look-at-file.ts';
import {
  companyProperties,
  googleAddress,
  lookAtDatabase,
  lookAtSpreadsheet,
} from '../setup/look-at-services.ts';
import { docsPath } from '../version.ts';
import { never } from './check-line.ts';
import type { Dialogue } from './init-dialogue.ts';
import type { Given, PlaceKind, Roots } from './init-given.ts';
import type { Interview } from './init-interview.ts';
import type { QuestionName } from './init-questions.ts';

interface Found {
  /** Below `target` in leadsync.yaml. */
  readonly settings: TargetAnswer['settings'];
  /** For messages. */
  readonly name: string;
  readonly table: FoundTable;
  /** Looks again. */
  look(): Promise<FoundTable>;
}

/** A table that was found, or is to be made. */
export interface Place extends Omit<Found, 'settings'> {
  readonly target: TargetAnswer;
}

interface Kind {
  readonly type: TargetAnswer['type'];
  readonly label: string;
  readonly hint: string;
  /** The page that shows how to get what it asks for. */
  readonly page?: string;
  /** What opens it. */
  readonly key: readonly QuestionName[];
  /** What is in it. */
  readonly place: readonly QuestionName[];
  readonly roots?: readonly (keyof Roots)[];
  /** Options that are required without a terminal. */
  readonly needs: (has: (name: QuestionName) => boolean) => readonly QuestionName[];
  readonly find: (interview: Interview, roots: Roots) => Promise<Found>;
}

/** Every kind of place. */
export const kinds: Readonly<Record<PlaceKind, Kind>> = {
  file: {
    type: 'workbook',
    label: 'An Excel workbook or a CSV file on this machine',
    hint: 'nothing to set up',
    key: [],
    place: ['path', 'sheet'],
    needs: () => ['path'],
    find: findFile,
  },
  webdav: {
    type: 'workbook',
    label: 'A file in Nextcloud or on another WebDAV server',
    hint: 'needs an app password',
    page: 'webdav.md',
    key: ['WEBDAV_USER', 'WEBDAV_PASSWORD', 'WEBDAV_TOKEN'],
    place: ['address', 'sheet'],
    needs: (has) => (has('WEBDAV_USER') ? ['WEBDAV_PASSWORD'] : []),
    find: findOnWebDav,
  },
  msgraph: {
    type: 'workbook',
    label: 'A workbook in SharePoint, Teams or OneDrive',
    hint: 'needs an app in Entra',
    page: 'microsoft-365.md',
    key: ['MSGRAPH_TENANT', 'MSGRAPH_CLIENT_ID', 'MSGRAPH_CLIENT_SECRET', 'MSGRAPH_CERTIFICATE'],
    place: ['MSGRAPH_DRIVE', 'item', 'sheet'],
    roots: ['MSGRAPH_URL', 'MSGRAPH_LOGIN_URL'],
    needs: (has) => [
      'MSGRAPH_TENANT',
      'MSGRAPH_CLIENT_ID',
      has('MSGRAPH_CERTIFICATE') ? 'MSGRAPH_CERTIFICATE' : 'MSGRAPH_CLIENT_SECRET',
    ],
    find: findInMicrosoft365,
  },
  'google-sheets': {
    type: 'google-sheets',
    label: 'A Google spreadsheet',
    hint: 'needs the key of a service account',
    page: 'google-sheets.md',
    key: ['GOOGLE_APPLICATION_CREDENTIALS'],
    place: ['spreadsheet'],
    roots: ['GOOGLE_SHEETS_URL'],
    needs: () => ['GOOGLE_APPLICATION_CREDENTIALS'],
    find: findSpreadsheet,
  },
  hubspot: {
    type: 'hubspot',
    label: 'Companies in HubSpot',
    hint: 'needs an access token',
    page: 'hubspot.md',
    key: ['HUBSPOT_TOKEN'],
    place: [],
    roots: ['HUBSPOT_URL'],
    needs: () => ['HUBSPOT_TOKEN'],
    find: findCompanies,
  },
  'postgres-table': {
    type: 'postgres-table',
    label: 'A table in PostgreSQL',
    hint: 'also behind NocoDB, Directus and other grids',
    key: ['POSTGRES_TABLE_URL'],
    place: [],
    needs: () => ['POSTGRES_TABLE_URL'],
    find: findTable,
  },
};

/** Asks where the table is, and looks there. What cannot be reached is asked again. */
export async function askPlace(
  interview: Interview,
  { kind: given, roots, ownRoots }: Given,
): Promise<Place> {
  const { ui } = interview;
  const kind =
    given ??
    (await ui.choose(
      { message: 'Where does the team keep its table?', flag: '--target' },
      (Object.keys(kinds) as PlaceKind[]).map((value) => {
        const { label, hint } = kinds[value];
        return { value, label, hint };
      }),
    ));
  const { type, page, key, place, find, roots: own = [] } = kinds[kind];
  if (page !== undefined && ui.isTerminal && !key.some((name) => interview.has(name)))
    ui.say(`How to get what it asks for: ${docsPath(page)}`);
  const { settings, ...found } = await interview.untilItWorks({ key, place }, () => find(interview, roots));
  const set = own.flatMap((name): [string, string][] => {
    const root = ownRoots.get(name);
    return root === undefined ? [] : [[name, root]];
  });
  return { ...found, target: { type, settings, variables: new Map([...interview.kept(key), ...set]) } };
}

async function findFile(interview: Interview): Promise<Found> {
  const names = interview.has('path') ? [] : await tablesIn(process.cwd());
  const path = resolve(await interview.pick('path', 'Which file?', names, 'Another file, or a new one'));
  return lookInto(interview, relative(process.cwd(), path) || path, { path: { file: path } }, { path });
}

async function findOnWebDav(interview: Interview): Promise<Found> {
  const path = await interview.text('address');
  // Nobody to ask: without a login the server says whether it wants one.
  if (interview.ui.isTerminal && !interview.has('WEBDAV_TOKEN')) await interview.text('WEBDAV_USER');
  const user = interview.known('WEBDAV_USER');
  if (user !== undefined) await interview.secret('WEBDAV_PASSWORD');
  else if (interview.ui.isTerminal) await interview.secret('WEBDAV_TOKEN');
  const password = user === undefined ? undefined : interview.knownSecret('WEBDAV_PASSWORD')?.value;
  const accessToken = interview.knownSecret('WEBDAV_TOKEN')?.value;
  const settings = {
    path,
    ...(user !== undefined && {
      user: { variable: 'WEBDAV_USER' },
      password: { variable: 'WEBDAV_PASSWORD' },
    }),
    ...(accessToken !== undefined && { accessToken: { variable: 'WEBDAV_TOKEN' } }),
  };
  return lookInto(interview, path, settings, { path, user, password, accessToken });
}

async function findInMicrosoft365(interview: Interview, roots: Roots): Promise<Found> {
  const tenant = await interview.text('MSGRAPH_TENANT');
  const clientId = await interview.text('MSGRAPH_CLIENT_ID');
  const proof = interview.has('MSGRAPH_CERTIFICATE')
    ? 'MSGRAPH_CERTIFICATE'
    : interview.has('MSGRAPH_CLIENT_SECRET')
      ? 'MSGRAPH_CLIENT_SECRET'
      : await chooseProof(interview.ui);
  await interview.secret(proof);
  const where = await interview.text('MSGRAPH_DRIVE');
  const place = isWebAddress(where) ? { path: where } : { drive: where, path: await interview.text('item') };
  const app = {
    tenant,
    clientId,
    clientSecret: interview.knownSecret('MSGRAPH_CLIENT_SECRET')?.value,
    certificate: interview.knownSecret('MSGRAPH_CERTIFICATE')?.value,
    url: roots.MSGRAPH_URL,
    loginUrl: roots.MSGRAPH_LOGIN_URL,
  };
  return lookInto(interview, place.path, place, { ...place, msgraph: app });
}

function chooseProof(ui: Dialogue): Promise<'MSGRAPH_CLIENT_SECRET' | 'MSGRAPH_CERTIFICATE'> {
  return ui.choose(
    {
      message: 'How does the app sign in?',
      flag: '--msgraph-client-secret-file',
      proposal: 'MSGRAPH_CLIENT_SECRET',
    },
    [
      { value: 'MSGRAPH_CLIENT_SECRET', label: 'With a client secret' },
      { value: 'MSGRAPH_CERTIFICATE', label: 'With a certificate' },
    ],
  );
}

/** The table in a file: asks for the sheet of a workbook that has several. */
async function lookInto(
  interview: Interview,
  shown: string,
  settings: TargetAnswer['settings'],
  address: FileAddress,
): Promise<Found> {
  const named = interview.known('sheet');
  const first = await lookAtFile(address, named, never);
  const [only, ...others] = first.sheets;
  const sheet =
    others.length === 0 && named === undefined
      ? undefined
      : await interview.pick('sheet', 'Which sheet?', first.sheets, null);
  const look = () => lookAtFile(address, sheet, never);
  return {
    settings: { ...settings, ...(sheet !== undefined && { sheet }) },
    name: sheet === undefined ? shown : `${shown}, sheet ${sheet}`,
    table: sheet === undefined || sheet === (named ?? only) ? first : await look(),
    look,
  };
}

async function findSpreadsheet(interview: Interview, roots: Roots): Promise<Found> {
  const { ui } = interview;
  const credentials = await interview.text('GOOGLE_APPLICATION_CREDENTIALS');
  const address = await googleAddress(credentials);
  if (!interview.has('spreadsheet') && address !== null)
    ui.say(`Share the spreadsheet with this address, as editor:\n${address}`);
  const spreadsheet = await interview.text('spreadsheet');
  const options = { credentials, spreadsheet, apiUrl: roots.GOOGLE_SHEETS_URL };
  const found = await lookAtSpreadsheet(options, never);
  const tab = await interview.pick('tab', 'Which tab?', found.tabs, 'A new tab');
  const isThere = found.tabs.some((title) => title.toLowerCase() === tab.toLowerCase());
  const look = async () => (isThere ? found.lookAt(tab, never) : { headings: null, hasRows: false });
  return { settings: { spreadsheet, tab }, name: `the tab ${tab}`, table: await look(), look };
}

async function findCompanies(interview: Interview, roots: Roots): Promise<Found> {
  const { value } = await interview.secret('HUBSPOT_TOKEN');
  const look = async () => ({
    headings: await companyProperties(value, roots.HUBSPOT_URL, never),
    hasRows: true,
  });
  const table = await look();
  interview.ui.say(`HubSpot answers: companies have ${table.headings.length} properties.`);
  return {
    settings: { token: { variable: 'HUBSPOT_TOKEN' } },
    name: 'the companies in HubSpot',
    table,
    look,
  };
}

async function findTable(interview: Interview): Promise<Found> {
  const { value } = await interview.secret('POSTGRES_TABLE_URL');
  const found = await lookAtDatabase(value);
  const table = await interview.pick('table', 'Which table?', found.tables, 'A new table');
  return {
    settings: { url: { variable: 'POSTGRES_TABLE_URL' }, table },
    name: `the table ${table}`,
    table: await found.lookAt(table),
    look: async () => (await lookAtDatabase(value)).lookAt(table),
  };
}
