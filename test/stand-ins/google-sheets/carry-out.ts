import type { sheets_v4 } from '@googleapis/sheets';
import { ApiFault, invalid, notCarriedOut } from './api-fault.ts';
import type { ApiCall } from './api-route.ts';
import { batchUpdate } from './batch-update.ts';
import type { InputOption, Reading, Rendering } from './cell-values.ts';
import { Discovery } from './discovery.ts';
import { type FieldMask, parseFieldMask, prune } from './field-mask.ts';
import { describeSpreadsheet } from './get-spreadsheet.ts';
import { findRecords } from './metadata.ts';
import type { Spreadsheet } from './sheet-state.ts';
import {
  clearRanges,
  type Echo,
  readRanges,
  readValues,
  writeRanges,
  writeValues,
} from './values-requests.ts';

/** The bodies of the supported methods. */
interface Bodies {
  readonly BatchUpdateSpreadsheetRequest: sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
  readonly BatchUpdateValuesRequest: sheets_v4.Schema$BatchUpdateValuesRequest;
  readonly BatchClearValuesRequest: sheets_v4.Schema$BatchClearValuesRequest;
  readonly ValueRange: sheets_v4.Schema$ValueRange;
  readonly ClearValuesRequest: sheets_v4.Schema$ClearValuesRequest;
  readonly SearchDeveloperMetadataRequest: sheets_v4.Schema$SearchDeveloperMetadataRequest;
}

/** Whether a request counts as a read: it changes nothing. */
export function isRead({ method, name }: ApiCall): boolean {
  return method.httpMethod === 'GET' || /(?:[gG]etByDataFilter|\.search)$/.test(name);
}

/** Carries out one request with a checked query. Returns the reply, checked and pruned. Throws ApiFault. */
export function carryOut(call: ApiCall, body: unknown, state: Spreadsheet, now: number): unknown {
  const discovery = Discovery.load();
  const fields = call.query.get('fields');
  const mask = fields === null ? null : parseFieldMask(fields);
  discovery.checkMask(call.method.response.$ref, mask);
  const reply = answer(call, body, state, { locale: state.locale, now }, mask);
  discovery.checkReply(call.method.response.$ref, reply);
  return prune(reply, mask);
}

function answer(call: ApiCall, body: unknown, state: Spreadsheet, reading: Reading, mask: FieldMask): object {
  const { query } = call;
  const range = call.path.get('range') ?? '';
  switch (call.name) {
    case 'spreadsheets.get': {
      // With a mask, the mask decides whether cells are included.
      const withGrid = query.has('fields') || query.get('includeGridData') === 'true';
      return describeSpreadsheet(state, query.getAll('ranges'), mask, withGrid);
    }
    case 'spreadsheets.batchUpdate':
      return update(state, readBody('BatchUpdateSpreadsheetRequest', body));
    case 'spreadsheets.values.get':
      return readValues(state, range, renderingOf(query), byColumns(query));
    case 'spreadsheets.values.batchGet':
      return readRanges(state, query.getAll('ranges'), renderingOf(query), byColumns(query));
    case 'spreadsheets.values.update': {
      const values = readBody('ValueRange', body);
      if (values.range && values.range !== range) {
        throw invalid(`Requested writing within range [${range}], but the body says [${values.range}]`);
      }
      const input = inputOption(query.get('valueInputOption'));
      return writeValues(state, { ...values, range }, input, reading, echoOfQuery(query));
    }
    case 'spreadsheets.values.batchUpdate': {
      const all = readBody('BatchUpdateValuesRequest', body);
      return writeRanges(state, all.data ?? [], inputOption(all.valueInputOption), reading, echoOf(all));
    }
    case 'spreadsheets.values.clear': {
      readBody('ClearValuesRequest', body ?? {});
      const [clearedRange = ''] = clearRanges(state, [range]);
      return { spreadsheetId: state.id, clearedRange };
    }
    case 'spreadsheets.values.batchClear': {
      const { ranges } = readBody('BatchClearValuesRequest', body);
      return { spreadsheetId: state.id, clearedRanges: clearRanges(state, ranges ?? []) };
    }
    case 'spreadsheets.developerMetadata.search': {
      const { dataFilters } = readBody('SearchDeveloperMetadataRequest', body);
      const found = (dataFilters ?? []).flatMap((filter) =>
        findRecords(state, filter).map((developerMetadata) => ({ developerMetadata, dataFilters: [filter] })),
      );
      return found.length > 0 ? { matchedDeveloperMetadata: found } : {};
    }
    default:
      throw notCarriedOut(`the method ${call.name}`);
  }
}

function update(
  state: Spreadsheet,
  body: sheets_v4.Schema$BatchUpdateSpreadsheetRequest,
): sheets_v4.Schema$BatchUpdateSpreadsheetResponse {
  if (body.includeSpreadsheetInResponse === true) throw notCarriedOut('includeSpreadsheetInResponse');
  return { spreadsheetId: state.id, replies: batchUpdate(state, body.requests ?? []) };
}

/** The body, checked against the discovery document. */
function readBody<Name extends keyof Bodies>(name: Name, body: unknown): Bodies[Name] {
  const checked = (value: unknown): value is Bodies[Name] => {
    Discovery.load().checkBody(name, value);
    return true;
  };
  if (checked(body ?? {})) return body ?? {};
  throw new ApiFault(500, `The body is no ${name}.`);
}

function inputOption(option: string | null | undefined): InputOption {
  if (option === 'RAW' || option === 'USER_ENTERED') return option;
  throw invalid("'valueInputOption' is required but not specified");
}

function byColumns(query: URLSearchParams): boolean {
  return query.get('majorDimension') === 'COLUMNS';
}

function renderingOf(query: URLSearchParams): Rendering {
  return rendering(query.get('valueRenderOption'), query.get('dateTimeRenderOption'));
}

function rendering(values: string | null | undefined, dates: string | null | undefined): Rendering {
  return {
    values: values === 'UNFORMATTED_VALUE' || values === 'FORMULA' ? values : 'FORMATTED_VALUE',
    dates: dates === 'FORMATTED_STRING' ? dates : 'SERIAL_NUMBER',
  };
}

function echoOfQuery(query: URLSearchParams): Echo | null {
  if (query.get('includeValuesInResponse') !== 'true') return null;
  const dates = query.get('responseDateTimeRenderOption');
  return { rendering: rendering(query.get('responseValueRenderOption'), dates) };
}

function echoOf(body: sheets_v4.Schema$BatchUpdateValuesRequest): Echo | null {
  if (body.includeValuesInResponse !== true) return null;
  return { rendering: rendering(body.responseValueRenderOption, body.responseDateTimeRenderOption) };
}
