import type { sheets_v4 } from '@googleapis/sheets';
import { invalid } from './api-fault.ts';
import { changeEntries } from './dimensions.ts';
import { sheetById } from './grid-place.ts';
import type { MetadataRecord, Sheet, Spreadsheet } from './sheet-state.ts';

/** What a record is attached to. */
export type MetadataPlace =
  | { readonly kind: 'spreadsheet' }
  | { readonly kind: 'sheet'; readonly sheet: Sheet }
  | { readonly kind: 'ROWS' | 'COLUMNS'; readonly sheet: Sheet; readonly index: number };

interface Found {
  readonly record: MetadataRecord;
  readonly place: MetadataPlace;
}

/** Google's guide "Read, write, and search metadata": maximum characters of keys and values per sheet. */
const mostCharacters = 30_000;

export function describeRecord(
  record: MetadataRecord,
  place: MetadataPlace,
): sheets_v4.Schema$DeveloperMetadata {
  return {
    metadataId: record.id,
    metadataKey: record.key,
    ...(record.value !== null && { metadataValue: record.value }),
    location: describePlace(place),
    visibility: record.visibility,
  };
}

function describePlace(place: MetadataPlace): sheets_v4.Schema$DeveloperMetadataLocation {
  if (place.kind === 'spreadsheet') return { locationType: 'SPREADSHEET', spreadsheet: true };
  if (place.kind === 'sheet') return { locationType: 'SHEET', sheetId: place.sheet.id };
  const { kind: dimension, index, sheet } = place;
  const dimensionRange = { sheetId: sheet.id, dimension, startIndex: index, endIndex: index + 1 };
  return { locationType: dimension === 'ROWS' ? 'ROW' : 'COLUMN', dimensionRange };
}

export function createRecord(
  state: Spreadsheet,
  wanted: sheets_v4.Schema$DeveloperMetadata | undefined,
): sheets_v4.Schema$DeveloperMetadata {
  const { metadataKey, metadataValue, metadataId } = wanted ?? {};
  if (!metadataKey) throw invalid('metadataKey must be set.');
  const place = readPlace(state, wanted?.location);
  const id = metadataId ?? ++state.lastId;
  if (allRecords(state).some((one) => one.record.id === id)) {
    throw invalid(`Developer metadata with id ${id} already exists.`);
  }
  const visibility = readVisibility(wanted?.visibility);
  const record = { id, key: metadataKey, value: metadataValue ?? null, visibility };
  change(state, place, (records) => [...records, record]);
  checkStorage(state);
  return describeRecord(record, place);
}

/** The records that match a filter, with their locations. */
export function findRecords(
  state: Spreadsheet,
  filter: sheets_v4.Schema$DataFilter | undefined,
): sheets_v4.Schema$DeveloperMetadata[] {
  return matching(state, filter).map(({ record, place }) => describeRecord(record, place));
}

export function deleteRecords(
  state: Spreadsheet,
  filter: sheets_v4.Schema$DataFilter | undefined,
): sheets_v4.Schema$DeveloperMetadata[] {
  const found = matching(state, filter);
  for (const { record, place } of found) change(state, place, (all) => all.filter((one) => one !== record));
  return found.map(({ record, place }) => describeRecord(record, place));
}

/** Changes the key, value, visibility or location (those in `names`) of matching records. */
export function updateRecords(
  state: Spreadsheet,
  filters: readonly sheets_v4.Schema$DataFilter[],
  wanted: sheets_v4.Schema$DeveloperMetadata,
  names: (name: string) => boolean,
): sheets_v4.Schema$DeveloperMetadata[] {
  const found = new Map(filters.flatMap((one) => matching(state, one)).map((one) => [one.record.id, one]));
  const changed = [...found.values()].map(({ record, place }) => {
    const next: MetadataRecord = {
      id: record.id,
      key: names('metadataKey') && wanted.metadataKey ? wanted.metadataKey : record.key,
      value: names('metadataValue') ? (wanted.metadataValue ?? null) : record.value,
      visibility: names('visibility') ? readVisibility(wanted.visibility) : record.visibility,
    };
    const to = names('location') ? readPlace(state, wanted.location) : place;
    change(state, place, (all) => all.filter((one) => one !== record));
    change(state, to, (all) => [...all, next]);
    return describeRecord(next, to);
  });
  checkStorage(state);
  return changed;
}

function matching(state: Spreadsheet, filter: sheets_v4.Schema$DataFilter | undefined): Found[] {
  const lookup = filter?.developerMetadataLookup;
  if (!lookup) throw invalid('A data filter of developer metadata must have a developerMetadataLookup.');
  const place = lookup.metadataLocation ? JSON.stringify(lookup.metadataLocation) : null;
  return allRecords(state).filter((one) => {
    const shown = describeRecord(one.record, one.place);
    return (
      same(lookup.metadataId, shown.metadataId) &&
      same(lookup.metadataKey, shown.metadataKey) &&
      same(lookup.metadataValue, shown.metadataValue) &&
      same(lookup.visibility, shown.visibility) &&
      same(lookup.locationType, shown.location?.locationType) &&
      (place === null || place === JSON.stringify(placeAsAsked(shown.location)))
    );
  });
}

function same(wanted: unknown, shown: unknown): boolean {
  return wanted === undefined || wanted === null || wanted === shown;
}

/** A location in a request: without the type, which Google derives. */
function placeAsAsked(
  location: sheets_v4.Schema$DeveloperMetadataLocation | undefined,
): sheets_v4.Schema$DeveloperMetadataLocation {
  const { locationType: _type, ...place } = location ?? {};
  return place;
}

function allRecords(state: Spreadsheet): Found[] {
  const own = state.metadata.map((record): Found => ({ record, place: { kind: 'spreadsheet' } }));
  return [...own, ...state.sheets.flatMap(recordsIn)];
}

function recordsIn(sheet: Sheet): Found[] {
  const found = sheet.metadata.map((record): Found => ({ record, place: { kind: 'sheet', sheet } }));
  for (const kind of ['ROWS', 'COLUMNS'] as const) {
    for (const [index, entry] of (kind === 'ROWS' ? sheet.rows : sheet.columns).entries()) {
      for (const record of entry.metadata) found.push({ record, place: { kind, sheet, index } });
    }
  }
  return found;
}

function change(
  state: Spreadsheet,
  place: MetadataPlace,
  map: (records: readonly MetadataRecord[]) => readonly MetadataRecord[],
): void {
  if (place.kind === 'spreadsheet') state.metadata = map(state.metadata);
  else if (place.kind === 'sheet') place.sheet.metadata = map(place.sheet.metadata);
  else {
    changeEntries(place.sheet, place.kind, place.index, place.index + 1, (entry) => ({
      metadata: map(entry.metadata),
    }));
  }
}

function readVisibility(visibility: string | null | undefined): 'DOCUMENT' | 'PROJECT' {
  if (visibility === 'DOCUMENT' || visibility === 'PROJECT') return visibility;
  throw invalid('Visibility must be specified.');
}

function readPlace(
  state: Spreadsheet,
  location: sheets_v4.Schema$DeveloperMetadataLocation | null | undefined,
): MetadataPlace {
  if (location?.spreadsheet === true) return { kind: 'spreadsheet' };
  if (location?.dimensionRange) {
    const { sheetId, dimension, startIndex, endIndex } = location.dimensionRange;
    const sheet = sheetById(state, sheetId);
    const index = startIndex ?? 0;
    if (dimension !== 'ROWS' && dimension !== 'COLUMNS') throw invalid('No dimension specified.');
    const size = (dimension === 'ROWS' ? sheet.rows : sheet.columns).length;
    if (endIndex !== index + 1 || index >= size) {
      throw invalid('The dimensionRange must represent a single row or column.');
    }
    return { kind: dimension, sheet, index };
  }
  if (typeof location?.sheetId !== 'number') throw invalid('A location must be specified.');
  return { kind: 'sheet', sheet: sheetById(state, location.sheetId) };
}

function checkStorage(state: Spreadsheet): void {
  const characters = (found: readonly MetadataRecord[]): number =>
    found.reduce((sum, one) => sum + one.key.length + (one.value?.length ?? 0), 0);
  const sizes = state.sheets.map((sheet) => characters(recordsIn(sheet).map((one) => one.record)));
  if (Math.max(characters(state.metadata), ...sizes) <= mostCharacters) return;
  throw invalid(`The developer metadata would be longer than ${mostCharacters} characters.`);
}
