import { randomUUID } from 'node:crypto';
import { areaOf, findSheet, withinGrid, writeA1 } from './a1-range.ts';
import { type Reading, showCell, typeInto } from './cell-values.ts';
import {
  appendDimension,
  type Axis,
  changeEntries,
  deleteDimension,
  insertDimension,
  moveDimension,
  sizeOf,
} from './dimensions.ts';
import { Formulas } from './formulas.ts';
import { addSheet, checkTitle, deleteSheet } from './sheet-requests.ts';
import {
  type Area,
  type Cell,
  changeCells,
  mergeArea,
  mergedInto,
  unmergeArea,
  copySpreadsheet,
  emptyCell,
  type MetadataRecord,
  type Sheet,
  type Spreadsheet,
  wholeSheet,
} from './sheet-state.ts';
import { sortArea } from './sort-range.ts';

/**
 * The owner at work in the spreadsheet, from whom nothing is protected. Each call takes effect at once. Rows and columns
 * count from 0; ranges are in A1 notation without the tab (`A2:C9`, `B:B`; '': the whole tab). Throws for a missing tab.
 */
export interface SheetsPerson {
  /**
   * The displayed texts of a tab, down to the last row with content; rows are padded to the width of the first. Null: no
   * such tab.
   */
  grid(tab: string): string[][] | null;
  /** Types a text into a cell (of merged cells, the first); the grid grows as needed. */
  type(tab: string, row: number, column: number, text: string): void;
  /**
   * Replaces all content by texts; formats, validation and records stay in place. `typeDates`: ISO dates are typed, and
   * so become dates.
   */
  put(tab: string, grid: readonly (readonly string[])[], options?: { readonly typeDates?: boolean }): void;
  insertRows(tab: string, at: number, count?: number): void;
  deleteRows(tab: string, at: number, count?: number): void;
  /** Moves rows before the row that is at `to` before the move. */
  moveRows(tab: string, from: number, count: number, to: number): void;
  insertColumns(tab: string, at: number, count?: number): void;
  deleteColumns(tab: string, at: number, count?: number): void;
  moveColumn(tab: string, from: number, to: number): void;
  /** Sorts a range by a column of the tab; columns outside the range stay. */
  sortRange(tab: string, range: string, column: number, ascending?: boolean): void;
  renameTab(tab: string, title: string): void;
  addTab(title: string): void;
  deleteTab(tab: string): void;
  /** `records`: also copies the developer metadata of the tab and its columns; whether Google does is unknown. */
  duplicateTab(tab: string, title: string, records: boolean): void;
  /** Protects a range from the service account, or only warns. Returns the protected range's id. */
  protect(tab: string, range: string, warningOnly?: boolean): number;
  unprotect(tab: string): void;
  /** Merges cells; all content but the first cell's is lost. */
  merge(tab: string, range: string): void;
  /** Splits the merged cells in a range; lost content stays lost. */
  unmerge(tab: string, range: string): void;
  freeze(tab: string, rows: number): void;
  /** Sets a basic filter; `sortedBy`: a column by which it keeps the rows sorted. */
  filter(tab: string, range: string, sortedBy?: number): void;
  /** The ranges of the tables of a tab, and of its filter, as `A1:C4`. */
  ranges(tab: string): readonly string[];
  /** Makes a table of a range; `footer`: its last row is one. */
  makeTable(tab: string, range: string, footer?: boolean): void;
  hideRows(tab: string, at: number, count?: number): void;
  /** Sets a strict list of allowed values; null removes it. */
  setValidation(tab: string, range: string, allowed: readonly string[] | null): void;
  /** Such as `{ type: 'DATE', pattern: 'dd.mm.yyyy' }`. */
  setNumberFormat(tab: string, range: string, type: string, pattern?: string): void;
  setTimeZone(timeZone: string): void;
  setLocale(locale: string): void;
  /** Drive then names this person as the last one who changed the file. */
  signAs(name: string): void;
  setTrashed(trashed: boolean): void;
  /** The service account's access to the spreadsheet: everything, reading (`reader`), or none. */
  setShared(shared: boolean | 'reader'): void;
  /** Copies the file with all records, shared with the same account; returns the person at work in it. */
  copySpreadsheet(): { readonly spreadsheetId: string; readonly person: SheetsPerson };
  /**
   * Saves the tabs as a version of the history; the returned function restores it. `records`: including developer metadata,
   * else the tabs keep their current metadata; what Google does is unknown.
   */
  keepVersion(): (records: boolean) => void;
}

/** A person's surroundings. */
export interface Workplace {
  /** Epoch ms, for dates typed without a year. */
  readonly now: () => number;
  /** Registers a new file. */
  readonly addFile: (file: Spreadsheet) => void;
}

const isoLike = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/;

/** The owner at work in `state`. */
export function createPerson(state: Spreadsheet, workplace: Workplace): SheetsPerson {
  const sheetOf = (tab: string): Sheet => {
    const sheet = findSheet(state, tab);
    if (sheet === undefined) throw new Error(`There is no tab ${tab} in the spreadsheet.`);
    return sheet;
  };
  const reading = (): Reading => ({ locale: state.locale, now: workplace.now() });
  const insert = (tab: string, axis: Axis, at: number, count: number): void => {
    const sheet = sheetOf(tab);
    // Like the menu's "insert above" and "insert left": the new row or column inherits from the selected one.
    insertDimension(state, sheet, axis, at, count, Math.min(at, sizeOf(sheet, axis) - 1));
  };
  const setCells = (tab: string, range: string, change: Partial<Cell>): void => {
    const sheet = sheetOf(tab);
    changeCells(sheet, areaIn(sheet, range), (cell) => ({ ...cell, ...change }));
  };
  const changed = <Args extends unknown[], T>(change: (...args: Args) => T) => {
    return (...args: Args): T => {
      const result = change(...args);
      state.changes = [...state.changes, workplace.now()];
      return result;
    };
  };
  const person: SheetsPerson = {
    grid: (tab) => {
      const sheet = findSheet(state, tab);
      return sheet === undefined ? null : shownGrid(state, sheet);
    },
    type: (tab, row, column, text) => {
      const sheet = sheetOf(tab);
      growTo(state, sheet, row + 1, column + 1);
      const { startRow, startColumn } = mergedInto(sheet, row, column) ?? {
        startRow: row,
        startColumn: column,
      };
      const area = { startRow, endRow: startRow + 1, startColumn, endColumn: startColumn + 1 };
      changeCells(sheet, area, (cell) => typeInto(cell, text, reading()));
    },
    put: (tab, grid, { typeDates = false } = {}) => {
      const sheet = sheetOf(tab);
      growTo(state, sheet, grid.length, Math.max(0, ...grid.map((row) => row.length)));
      changeCells(sheet, wholeSheet(sheet), (cell, row, column) => {
        const text = grid[row]?.[column] ?? '';
        if (typeDates && isoLike.test(text)) return typeInto(cell, text, reading());
        return text === cell.entered || (text === '' && cell.entered === null)
          ? cell
          : { ...cell, entered: text === '' ? null : text };
      });
    },
    insertRows: (tab, at, count = 1) => insert(tab, 'ROWS', at, count),
    deleteRows: (tab, at, count = 1) => deleteDimension(state, sheetOf(tab), 'ROWS', at, at + count),
    moveRows: (tab, from, count, to) => moveDimension(state, sheetOf(tab), 'ROWS', from, from + count, to),
    insertColumns: (tab, at, count = 1) => insert(tab, 'COLUMNS', at, count),
    deleteColumns: (tab, at, count = 1) => deleteDimension(state, sheetOf(tab), 'COLUMNS', at, at + count),
    moveColumn: (tab, from, to) => moveDimension(state, sheetOf(tab), 'COLUMNS', from, from + 1, to),
    sortRange: (tab, range, column, ascending = true) => {
      const sheet = sheetOf(tab);
      sortArea(state, sheet, areaIn(sheet, range), [{ column, descending: !ascending }]);
    },
    renameTab: (tab, title) => {
      const sheet = sheetOf(tab);
      checkTitle(state, title, sheet);
      sheet.title = title;
    },
    addTab: (title) => {
      addSheet(state, { title });
    },
    deleteTab: (tab) => {
      const sheet = sheetOf(tab);
      sheet.protections = [];
      deleteSheet(state, sheet.id);
    },
    duplicateTab: (tab, title, records) => {
      const sheet = sheetOf(tab);
      addSheet(state, { title });
      const { id } = sheetOf(title);
      const copied = (metadata: readonly MetadataRecord[]) =>
        records ? metadata.map((record) => ({ ...record, id: ++state.lastId })) : [];
      sheet.rowsShared = true;
      const columns = sheet.columns.map((column) => ({ ...column, metadata: copied(column.metadata) }));
      const copy = { ...sheet, id, title, columns, metadata: copied(sheet.metadata), protections: [] };
      state.sheets = state.sheets.map((one) => (one.id === id ? copy : one));
    },
    protect: (tab, range, warningOnly = false) => {
      const sheet = sheetOf(tab);
      const id = ++state.lastId;
      const area = range === '' ? null : areaIn(sheet, range);
      const one = { id, area, unprotected: [], warningOnly, description: null, canEdit: warningOnly };
      sheet.protections = [...sheet.protections, one];
      return id;
    },
    unprotect: (tab) => {
      sheetOf(tab).protections = [];
    },
    freeze: (tab, rows) => {
      sheetOf(tab).frozenRows = rows;
    },
    filter: (tab, range, sortedBy) => {
      const sheet = sheetOf(tab);
      const sorted = sortedBy === undefined ? [] : [{ dimensionIndex: sortedBy, sortOrder: 'ASCENDING' }];
      sheet.filter = { area: areaIn(sheet, range), specs: [], sorted };
    },
    ranges: (tab) => {
      const sheet = sheetOf(tab);
      const areas = [...sheet.tables, ...(sheet.filter === null ? [] : [sheet.filter])];
      return areas.map(({ area }) => writeA1(sheet, area).split('!')[1] ?? '');
    },
    makeTable: (tab, range, footer = false) => {
      const sheet = sheetOf(tab);
      sheet.tables = [...sheet.tables, { id: String(++state.lastId), area: areaIn(sheet, range), footer }];
    },
    merge: (tab, range) => {
      const sheet = sheetOf(tab);
      mergeArea(sheet, areaIn(sheet, range));
    },
    unmerge: (tab, range) => {
      const sheet = sheetOf(tab);
      unmergeArea(sheet, areaIn(sheet, range));
    },
    hideRows: (tab, at, count = 1) =>
      changeEntries(sheetOf(tab), 'ROWS', at, at + count, () => ({ hidden: true })),
    setValidation: (tab, range, allowed) => {
      const values = allowed?.map((userEnteredValue) => ({ userEnteredValue })) ?? [];
      const rule = { condition: { type: 'ONE_OF_LIST', values }, strict: true, showCustomUi: true };
      setCells(tab, range, { validation: allowed === null ? null : rule });
    },
    setNumberFormat: (tab, range, type, pattern) => {
      const sheet = sheetOf(tab);
      const numberFormat = { type, ...(pattern !== undefined && { pattern }) };
      changeCells(sheet, areaIn(sheet, range), (cell) => ({
        ...cell,
        format: { ...cell.format, numberFormat },
      }));
    },
    setTimeZone: (timeZone) => {
      state.timeZone = timeZone;
    },
    setLocale: (locale) => {
      state.locale = locale;
    },
    signAs: (by) => {
      state.lastChange = { by, me: false, at: workplace.now() };
    },
    setTrashed: (trashed) => {
      state.trashed = trashed;
    },
    setShared: (shared) => {
      state.shared = shared;
    },
    copySpreadsheet: () => {
      const copy = copySpreadsheet(state, `1Copy${randomUUID()}`);
      copy.title = `Copy of ${state.title}`;
      copy.trashed = false;
      workplace.addFile(copy);
      return { spreadsheetId: copy.id, person: createPerson(copy, workplace) };
    },
    keepVersion: () => {
      const version = copySpreadsheet(state);
      return changed((records) => {
        const today = new Map(state.sheets.map(({ id, metadata }) => [id, metadata]));
        state.sheets = copySpreadsheet(version).sheets.map((sheet) =>
          records ? sheet : { ...sheet, metadata: today.get(sheet.id) ?? sheet.metadata },
        );
      });
    },
  };
  const looks: readonly (keyof SheetsPerson)[] = ['grid', 'ranges', 'copySpreadsheet', 'keepVersion'];
  for (const name of Object.keys(person) as (keyof SheetsPerson)[])
    if (!looks.includes(name)) Object.assign(person, { [name]: changed(person[name] as () => unknown) });
  return person;
}

/** The part of the range within the grid. */
function areaIn(sheet: Sheet, range: string): Area {
  return withinGrid({ sheet, area: areaOf(sheet, range), single: false });
}

function growTo(state: Spreadsheet, sheet: Sheet, rows: number, columns: number): void {
  if (rows > sheet.rows.length) appendDimension(state, sheet, 'ROWS', rows - sheet.rows.length);
  if (columns > sheet.columns.length)
    appendDimension(state, sheet, 'COLUMNS', columns - sheet.columns.length);
}

function shownGrid(state: Spreadsheet, sheet: Sheet): string[][] {
  const formulas = new Formulas(state);
  const shown = sheet.rows.map((row) => {
    const texts = row.cells.map((cell) => showCell(cell ?? emptyCell, sheet, formulas, state.locale));
    return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1);
  });
  const rows = shown.slice(0, shown.findLastIndex((row) => row.length > 0) + 1);
  const width = rows[0]?.length ?? 0;
  return rows.map((row) => [...row, ...Array.from({ length: Math.max(0, width - row.length) }, () => '')]);
}
