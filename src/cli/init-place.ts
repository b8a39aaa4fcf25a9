import { relative, resolve } from 'node:path';
import { postgresUrl } from '../config/addresses.ts';
import { spreadsheet as spreadsheetRule } from '../config/target-schema.ts';
import { filled } from '../config/values.ts';
import { LeadsyncError } from '../errors.ts';
import type { SecretAnswer, TargetAnswer } from '../setup/answers.ts';
import type { FoundTable } from '../setup/found-table.ts';
import { fileHere, lookAtFile, tablesIn } from '../setup/look-at-file.ts';
import {
  companyProperties,
  googleAddress,
  lookAtDatabase,
  lookAtSpreadsheet,
} from '../setup/look-at-services.ts';
import { typedPath } from '../setup/typed-path.ts';
import { never } from './check-line.ts';
import type { Dialogue } from './init-dialogue.ts';
import { type Given, type GivenTarget, hubspotToken, localMistake, mistakeIn } from './init-given.ts';

/** A table that was found, or is to be made. */
export interface Place {
  readonly target: TargetAnswer;
  /** For messages. */
  readonly name: string;
  /** Looks (again) at its headings. */
  look(): Promise<FoundTable>;
}

/** One entry for each kind of place. */
const kinds = {
  workbook: { label: 'An Excel workbook or a CSV file', hint: 'nothing to set up', ask: askFile },
  'google-sheets': {
    label: 'A Google spreadsheet',
    hint: 'needs the key of a service account',
    ask: askSpreadsheet,
  },
  hubspot: { label: 'Companies in HubSpot', hint: 'needs an access token', ask: askHubSpot },
  'postgres-table': {
    label: 'A table in PostgreSQL',
    hint: 'also behind NocoDB, Directus and other grids',
    ask: askTable,
  },
} as const;

const another = '\0another';

/** Asks where the table is, and looks there. What cannot be reached is asked again. */
export async function askPlace(ui: Dialogue, given: Given): Promise<Place> {
  const type =
    given.target?.type ??
    (await ui.choose(
      { message: 'Where does the team keep its table?', flag: '--target' },
      (['workbook', 'google-sheets', 'hubspot', 'postgres-table'] as const).map((value) => {
        const { label, hint } = kinds[value];
        return { value, label, hint };
      }),
    ));
  return kinds[type].ask(ui, given);
}

const ofType = <T extends GivenTarget['type']>({ target }: Given, type: T) =>
  target?.type === type ? (target as Extract<GivenTarget, { type: T }>) : undefined;

async function askFile(ui: Dialogue, given: Given): Promise<Place> {
  let [path, named] = [ofType(given, 'workbook')?.path, given.sheet];
  for (;;) {
    path ??= await choosePath(ui);
    const file = path;
    try {
      const place = await fileHere(file);
      const { sheets } = await lookAtFile(place, named, never);
      const sheet = named ?? (sheets.length > 1 ? await chooseSheet(ui, sheets) : undefined);
      return {
        target: { type: 'workbook', path: file, ...(sheet !== undefined && { sheet }) },
        name: `${relative(process.cwd(), file) || file}${sheet === undefined ? '' : `, sheet ${sheet}`}`,
        look: () => lookAtFile(place, sheet, never),
      };
    } catch (error) {
      ui.retry(error);
      [path, named] = [undefined, undefined];
    }
  }
}

async function choosePath(ui: Dialogue): Promise<string> {
  const names = await tablesIn(process.cwd());
  const found =
    names.length === 0
      ? another
      : await ui.choose({ message: 'Which file?', flag: '--target' }, [
          ...names.map((value) => ({ value, label: value })),
          { value: another, label: 'Another file, or a new one' },
        ]);
  if (found !== another) return resolve(found);
  const written = await ui.text({
    message: 'Path of the file: .xlsx, .xlsm or .csv (or a new one)',
    flag: '--target',
    ...(names.length === 0 && { proposal: './leads.xlsx' }),
    check: (answer) => localMistake(typedPath(answer)),
  });
  return resolve(typedPath(written));
}

function chooseSheet(ui: Dialogue, sheets: readonly string[]): Promise<string> {
  const choices = sheets.map((value) => ({ value, label: value }));
  return ui.choose({ message: 'Which sheet?', flag: '--sheet', proposal: sheets[0] ?? '' }, choices);
}

async function askSpreadsheet(ui: Dialogue, given: Given): Promise<Place> {
  const target = ofType(given, 'google-sheets');
  let [credentials, id, former] = [given.credentials, target?.spreadsheet, ''];
  for (;;) {
    credentials ??= resolve(
      await ui.text({
        message: 'Key file of the service account (docs/google-sheets.md)',
        flag: '--google-key-file',
        check: (answer) => mistakeIn(filled('must be the path of a file'), answer),
      }),
    );
    try {
      const address = await googleAddress(credentials);
      if (id === undefined && address !== null)
        ui.say(`Share the spreadsheet with this address, as editor:\n${address}`);
      id ??= await ui.text({
        message: 'Address of the spreadsheet, as the browser shows it',
        flag: '--target',
        example: 'https://docs.google.com/spreadsheets/d/…',
        ...(former !== '' && { proposal: former }),
        check: (answer) => mistakeIn(spreadsheetRule, answer),
      });
      const spreadsheet = spreadsheetRule.parse(id);
      const options = { credentials, spreadsheet, apiUrl: given.googleSheetsUrl };
      const found = await lookAtSpreadsheet(options, never);
      const tab = target?.tab ?? (await chooseTab(ui, found.tabs));
      const isThere = found.tabs.some((title) => title.toLowerCase() === tab.toLowerCase());
      return {
        target: { type: 'google-sheets', spreadsheet, tab, credentials },
        name: `the tab ${tab}`,
        look: async () => (isThere ? found.lookAt(tab, never) : { headings: null, hasRows: false }),
      };
    } catch (error) {
      ui.retry(error);
      const isOfKey = error instanceof LeadsyncError && error.code.startsWith('target.credentials-');
      if (isOfKey) credentials = undefined;
      else [former, id] = [id ?? '', undefined];
    }
  }
}

async function chooseTab(ui: Dialogue, tabs: readonly string[]): Promise<string> {
  const chosen = await ui.choose(
    { message: 'Which tab?', flag: '--target google-sheets:SPREADSHEET_ID/TAB' },
    [...tabs.map((value) => ({ value, label: value })), { value: another, label: 'A new tab' }],
  );
  if (chosen !== another) return chosen;
  return ui.text({
    message: 'Name of the new tab',
    flag: '--target',
    proposal: 'Leads',
    check: (answer) => mistakeIn(filled('must be the name of a tab'), answer),
  });
}

async function askHubSpot(ui: Dialogue, given: Given): Promise<Place> {
  let token: SecretAnswer | undefined = given.hubspotToken;
  for (;;) {
    token ??= {
      value: await ui.secret({
        message: 'Access token of HubSpot (docs/hubspot.md)',
        flag: '--hubspot-token-file',
        check: (answer) => mistakeIn(hubspotToken, answer),
      }),
    };
    const { value } = token;
    const look = async (): Promise<FoundTable> => ({
      headings: await companyProperties(value, given.hubspotUrl, never),
      hasRows: true,
    });
    try {
      const { headings } = await look();
      ui.say(`HubSpot answers: companies have ${headings?.length} properties.`);
      return { target: { type: 'hubspot', token }, name: 'the companies in HubSpot', look };
    } catch (error) {
      ui.retry(error);
      token = undefined;
    }
  }
}

async function askTable(ui: Dialogue, given: Given): Promise<Place> {
  let url = given.postgresUrl;
  for (;;) {
    url ??= {
      value: await ui.secret({
        message: 'Database, postgres://user:password@host:5432/database',
        flag: '--postgres-url-file',
        check: (answer) => mistakeIn(postgresUrl, answer),
      }),
    };
    const { value } = url;
    try {
      const found = await lookAtDatabase(value);
      const table = ofType(given, 'postgres-table')?.table ?? (await chooseTable(ui, found.tables));
      return {
        target: { type: 'postgres-table', url, table },
        name: `the table ${table}`,
        look: async () => (await lookAtDatabase(value)).lookAt(table),
      };
    } catch (error) {
      ui.retry(error);
      url = undefined;
    }
  }
}

async function chooseTable(ui: Dialogue, tables: readonly string[]): Promise<string> {
  const question = { message: 'Which table?', flag: '--target postgres-table:TABLE' };
  const chosen = await ui.choose(question, [
    ...tables.map((value) => ({ value, label: value })),
    { value: another, label: 'A new table' },
  ]);
  if (chosen !== another) return chosen;
  return ui.text({
    message: 'Name of the new table: TABLE or SCHEMA.TABLE',
    flag: question.flag,
    proposal: 'leads',
    check: (answer) => mistakeIn(filled('must be the name of a table'), answer),
  });
}
