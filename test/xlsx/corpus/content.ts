import type { Program } from '../../support/programs.ts';

/** What stands in the sheet `Leads` of every workbook of the corpus, whichever program wrote it. */
export const sheetName = 'Leads';

/** Columns A to J. The first, `Company`, `City`, `Next follow-up` and `Sync` are ours; the others are the user's own. */
export const columns = [
  'Lead ID',
  'Company',
  'Notes',
  'City',
  'Next follow-up',
  'Amount',
  'Double',
  'Abroad',
  'Code',
  'Sync',
] as const;

export interface Person {
  readonly id: string;
  readonly company: string;
  readonly notes: string;
  readonly city: string;
  /** Local time in Europe/Berlin, `yyyy-mm-dd hh:mm`; none: empty. */
  readonly due: string;
  readonly amount: number;
  readonly code: string;
}

export const people: readonly Person[] = [
  {
    id: 'id-a',
    company: 'Anna AG',
    notes: 'mine',
    city: 'Aachen',
    due: '2026-11-21 09:30',
    amount: 100,
    code: '0042',
  },
  { id: 'id-b', company: 'Bert BV', notes: '', city: 'Bonn', due: '', amount: 200, code: '0043' },
  {
    id: 'id-c',
    company: 'Cleo & Söhne <GmbH>',
    notes: 'two\nlines',
    city: 'Köln',
    due: '2026-03-30 12:00',
    amount: 300,
    code: '0044',
  },
  {
    id: 'id-d',
    company: 'Dora "D" Ltd',
    notes: ' spaced ',
    city: 'Dublin',
    due: '2027-01-02 00:00',
    amount: 400,
    code: '0045',
  },
  { id: '', company: 'Loose Ltd', notes: 'new one', city: 'Leeds', due: '', amount: 500, code: '0046' },
];

export const firstRow = 2;

/** Days since 1899-12-30, the date system of 1900 (ECMA-376 part 1, 18.17.4.1). */
export function serial(local: string): number {
  return localDate(local).getTime() / 86_400_000 + 25_569;
}

/** The local time as a library takes it that knows no zones. */
export const localDate = (local: string) => new Date(`${local.replace(' ', 'T')}:00Z`);

/** Twice the amount: a formula on the same sheet. */
export const doubleFormula = (row: number) => `F${row}*2`;
/** Depends on a cell of ours and on another sheet. */
export const abroadFormula = (row: number) => `IF(D${row}="Rome",F${row}*Rates!$B$2,F${row})`;
export const rate = 1.5;
export const abroad = (city: string, amount: number) => (city === 'Rome' ? amount * rate : amount);
/** On the sheet `Rates`, B4: how many of our cells say Rome. */
export const countFormula = 'COUNTIF(Leads!D2:D50,"Rome")';

/** A red dot, 1 × 1. */
export const redDot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** A workbook of the corpus. */
export interface CorpusFile {
  /** The program that makes it: where that is missing, the content is empty. */
  readonly by?: Program;
  readonly name: string;
  readonly extension: 'xlsx' | 'xlsm';
  readonly content: Buffer;
  /** The sheet is named in the settings; else the first is meant. */
  readonly sheet?: string;
  /** Row of the headings, 1-based; 1 unless told. */
  readonly headingRow?: number;
  /** Formulas and the user's own columns beyond `Notes` are there. */
  readonly full: boolean;
}
