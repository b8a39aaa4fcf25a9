import { z } from 'zod';
import {
  driveMark,
  drivePathMistake,
  fileAddressMistake,
  isPersonalOneDrive,
  isSharingLink,
  isWebAddress,
  postgresUrl,
} from './addresses.ts';
import { fileNameMistake, knownEndings } from './file-formats.ts';
import { heading, pathMistake, secret, secretToken, text, timeZone } from './values.ts';

const kind = <T extends string>(type: T) =>
  z.literal(type).describe('Kind: workbook, google-sheets, hubspot or postgres-table. Required.');

const columns = {
  idColumn: heading
    .exactOptional()
    .describe(
      'Column (HubSpot: internal name) of the ids. Default: Lead ID; lead_id for hubspot and postgres-table.',
    ),
  statusColumn: heading
    .exactOptional()
    .describe(
      'Column in which leadsync writes how each row stands. Without it the row of a deleted lead shows nothing.',
    ),
  pauseColumn: heading
    .exactOptional()
    .describe(
      'Column of your own that pauses rows: one that is ticked, or says anything but no, is neither read nor written, and not gone.',
    ),
};

const zone = {
  timeZone: timeZone.exactOptional().meta({
    env: 'TARGET_TZ_NAME',
    description:
      'Time zone (IANA) of dates without an offset. Default: sync.timeZone; a Google spreadsheet has its own. Required for a Postgres column of type timestamp (UTC for most grids).',
  }),
};

const supported = `supported: a path ending in ${knownEndings}, or such an https address, google-sheets:SPREADSHEET_ID/TAB, hubspot, or postgres-table:TABLE`;

export const tablePath = text((path) => {
  if (path.includes('\0')) return 'must not contain a NUL character';
  const isOfOtherKind = /^(google-sheets|hubspot|postgres-table):/i.test(path);
  if (isPersonalOneDrive(path))
    return 'leads to the OneDrive of a private person, which no app can reach by itself; put the workbook into SharePoint or a OneDrive for work';
  if (isSharingLink(path)) return null;
  if (googleAddress.test(path))
    return 'is a Google spreadsheet: type is google-sheets for it, and spreadsheet the address';
  if (isWebAddress(path)) return fileAddressMistake(path);
  if (path.startsWith(driveMark)) return drivePathMistake(path);
  const unknown = `is no target of a known kind; ${supported}`;
  return isOfOtherKind ? unknown : (fileNameMistake(path, unknown) ?? pathMistake(path));
});

export const sheetName = text((name) =>
  name.trim() !== '' && name.length <= 31 && !/[[\]:*?/\\\p{Cc}]|^'|'$/u.test(name)
    ? null
    : "must be a name of 1 to 31 characters without [ ] : * ? / \\, not starting or ending with '",
);

const davUser = text((name) =>
  name !== '' && !/[:\p{Cc}]/u.test(name) ? null : 'must be a user name without ":"',
);
const linePassword = secret(
  text((word) => (/\p{Cc}/u.test(word) || word === '' ? 'must be a password in one line' : null)),
);

const workbook = z.strictObject({
  type: kind('workbook'),
  path: tablePath.meta({
    env: 'TARGET',
    description: `A path ending in ${knownEndings} (relative to the folder of leadsync.yaml; of the variable to the current one), the https address of such a file on a WebDAV server, a sharing link of SharePoint or OneDrive for work, or msgraph:DRIVE/PATH. Required for a workbook. The variable takes the other kinds, too (docs/getting-started.md).`,
  }),
  user: davUser.exactOptional().meta({ env: 'WEBDAV_USER', description: 'User at the WebDAV server.' }),
  password: linePassword.exactOptional().meta({
    env: 'WEBDAV_PASSWORD',
    description: 'Password, or app password, of `user`.',
  }),
  sheet: sheetName
    .exactOptional()
    .describe(
      'Sheet of a workbook. Default: the one that leadsync marked, else the first not hidden; Leads in a new one.',
    ),
  ...columns,
  ...zone,
});

const googleAddress = /^https:\/\/docs\.google\.com\/spreadsheets\//;
const inAddress = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]+)(?:[/?#]|$)/;
/** A copy made by "File > Share > Publish to web": the `e` in its address is no id. */
const publishedAddress = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d+\/)?d\/e\//;

/** The id, alone or in the address that a browser shows. */
export const spreadsheet = text((written) => {
  if (publishedAddress.test(written))
    return 'must be the address that the browser shows while you work in the spreadsheet: this is a published copy';
  return /^[\w-]+$/.test(written) || inAddress.test(written)
    ? null
    : 'must be the address of a spreadsheet, https://docs.google.com/spreadsheets/d/…, or the id in it';
}).transform((written) => inAddress.exec(written)?.[1] ?? written);

const googleSheets = z.strictObject({
  type: kind('google-sheets'),
  spreadsheet: spreadsheet.describe(
    'Address of a Google spreadsheet, or its id. Required for google-sheets.',
  ),
  tab: text((name) =>
    name.trim() !== '' && name.length <= 100 && !/\p{Cc}/u.test(name)
      ? null
      : 'must be the name of a tab: 1 to 100 characters in one line',
  )
    .default('Leads')
    .describe('Tab of a Google spreadsheet; made when missing.'),
  ...columns,
});

const hubspot = z.strictObject({
  type: kind('hubspot'),
  token: secretToken('the access token of HubSpot').meta({
    env: 'HUBSPOT_TOKEN',
    description: 'Access token of HubSpot: a service key, or of a private app. Required for hubspot.',
  }),
  ...columns,
  ...zone,
});

const postgresTable = z.strictObject({
  type: kind('postgres-table'),
  url: postgresUrl.meta({
    env: 'POSTGRES_TABLE_URL',
    description:
      'Database of the table: postgres://user:password@host/database?sslmode=verify-full (no sslmode on this machine). Required for postgres-table.',
  }),
  // Each part as long as PostgreSQL allows.
  table: text((name) => {
    const parts = name.split('.');
    const isRight = parts.every(
      (part) => part.trim() !== '' && !part.includes('\0') && Buffer.byteLength(part) <= 63,
    );
    return isRight && parts.length <= 2 ? null : 'must be the name of a table: TABLE or SCHEMA.TABLE';
  }).describe(
    'TABLE or SCHEMA.TABLE, spelled as in the database; made when missing. Required for postgres-table.',
  ),
  ...columns,
  ...zone,
});

export const targetSchema = z.discriminatedUnion('type', [workbook, googleSheets, hubspot, postgresTable]);
