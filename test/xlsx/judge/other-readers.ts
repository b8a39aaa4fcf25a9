import { readXlsx } from 'hucre/xlsx';

/** Id, company and city of each row with an id that a library sees; throws when it cannot read the workbook. */
export type Reader = (workbook: Buffer, sheetName: string) => Promise<readonly (readonly string[])[]>;

const hucre: Reader = async (workbook, sheetName) => {
  const { sheets } = await readXlsx(workbook);
  const rows = sheets.find(({ name }) => name === sheetName)?.rows ?? [];
  return withId(
    rows.map((row) => [row[0], row[1], row[3]].map((value) => (typeof value === 'string' ? value : ''))),
  );
};

/** Libraries that share no code with the program, and the hand-made files that they cannot read to begin with. */
export const otherReaders: Readonly<Record<string, { read: Reader; cannot: readonly string[] }>> = {
  hucre: { read: hucre, cannot: ['zip: backslashes'] },
};

function withId(rows: readonly string[][]): string[][] {
  return rows.filter(([id = '']) => id.startsWith('id-'));
}
