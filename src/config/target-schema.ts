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
  z.literal(type).describe('Kind of target: workbook, google-sheets, hubspot or postgres-table. Required.');

const columns = {
  idColumn: heading
    .exactOptional()
    .describe(
      "Column (heading, or a HubSpot property's internal name) that holds the lead's id. Default: Lead ID; lead_id for hubspot and postgres-table.",
    ),
  statusColumn: heading
    .exactOptional()
    .describe(
      'Heading of a column in which leadsync writes the state of each row: in step, held (why), waiting (why), deleted (when). leadsync never reads it as data. Without it the table shows no state, and the row of a deleted lead stays as it is.',
    ),
};

const zone = {
  timeZone: timeZone.exactOptional().meta({
    env: 'TARGET_TZ_NAME',
    description:
      'IANA time zone of dates without an offset, for reading and writing. Default: that of sync.timeZone. Required for a postgres-table with a column of type timestamp (without time zone): UTC for NocoDB and most grids. A Google spreadsheet has its own.',
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
    description: `The file kept in step, a path ending in ${knownEndings}, or the address of such a file on a WebDAV server: https, http only for this machine. A sharing link of SharePoint or OneDrive for work leads to an Excel workbook there, and msgraph:DRIVE/PATH to a file of the drive with this id (docs/microsoft-365.md). Required for a workbook. A path is relative to the folder of leadsync.yaml, or for the variable to the current one. The variable also takes google-sheets:SPREADSHEET_ID/TAB, the address of a Google spreadsheet (tab Leads), hubspot and postgres-table:TABLE.`,
  }),
  user: davUser
    .exactOptional()
    .meta({ env: 'WEBDAV_USER', description: 'User at the WebDAV server of the file. Needs `password`.' }),
  password: linePassword.exactOptional().meta({
    env: 'WEBDAV_PASSWORD',
    description: 'Password, or app password, of `user` at the WebDAV server of the file.',
  }),
  sheet: sheetName
    .exactOptional()
    .describe(
      'Name of the sheet of an Excel workbook. Default: the one that leadsync has marked, else the first that is not hidden; Leads in a new workbook.',
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
    'Address of a Google spreadsheet, or the id in it. Required for google-sheets.',
  ),
  tab: text((name) =>
    name.trim() !== '' && name.length <= 100 && !/\p{Cc}/u.test(name)
      ? null
      : 'must be the name of a tab: 1 to 100 characters in one line',
  )
    .default('Leads')
    .describe('Name of the tab of a Google spreadsheet; leadsync makes it when it is missing.'),
  ...columns,
});

const hubspot = z.strictObject({
  type: kind('hubspot'),
  token: secretToken('the access token of HubSpot').meta({
    env: 'HUBSPOT_TOKEN',
    description: 'Access token of HubSpot: of a service key or a private app. Required for hubspot.',
  }),
  ...columns,
  ...zone,
});

const postgresTable = z.strictObject({
  type: kind('postgres-table'),
  url: postgresUrl.meta({
    env: 'POSTGRES_TABLE_URL',
    description:
      'Database of the table: postgres://user:password@host/database?sslmode=verify-full, without sslmode on this machine. Required for postgres-table. Not DATABASE_URL, which holds the state.',
  }),
  // Each part as long as PostgreSQL allows.
  table: text((name) => {
    const parts = name.split('.');
    const isRight = parts.every(
      (part) => part.trim() !== '' && !part.includes('\0') && Buffer.byteLength(part) <= 63,
    );
    return isRight && parts.length <= 2 ? null : 'must be the name of a table: TABLE or SCHEMA.TABLE';
  }).describe(
    'The table, as TABLE or SCHEMA.TABLE, spelled as in the database; leadsync makes it when it is missing. Required for postgres-table.',
  ),
  ...columns,
  ...zone,
});

export const targetSchema = z.discriminatedUnion('type', [workbook, googleSheets, hubspot, postgresTable]);
