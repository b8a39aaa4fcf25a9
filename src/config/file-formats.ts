interface FileFormatFacts {
  readonly endings: readonly string[];
  /** For messages. */
  readonly title: string;
  /** Whether it has sheets, and in its cells lists to choose from. */
  readonly hasSheets: boolean;
}

export type FileFormatName = 'xlsx' | 'csv';

/** The formats of files that leadsync writes; `src/targets/file/workbook-target.ts` has how each is opened. */
export const fileFormats: Readonly<Record<FileFormatName, FileFormatFacts>> = {
  xlsx: { endings: ['.xlsx', '.xlsm'], title: 'an Excel workbook', hasSheets: true },
  csv: { endings: ['.csv', '.tsv', '.txt'], title: 'a CSV file', hasSheets: false },
};

/** A sharing link does not tell what it leads to: a file of this format is expected there. */
export const linkedFormat: FileFormatName = 'xlsx';

const formatNames = Object.keys(fileFormats) as readonly FileFormatName[];

/** All endings, such as `.xlsx or .csv`. */
export const knownEndings = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  formatNames.flatMap((name) => fileFormats[name].endings),
);

/** By the ending of a path or an address; null: leadsync does not know it. */
export function formatOf(path: string): FileFormatName | null {
  const ending = /[^/\\](\.\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return formatNames.find((name) => fileFormats[name].endings.includes(ending)) ?? null;
}

const otherWorkbook = /\.(xls|xlsb|xltx|xltm|ods|fods|ots|numbers)$/i;

/** `unknown`: what is wrong with a name without any known ending. */
export function fileNameMistake(path: string, unknown: string): string | null {
  const [other] = otherWorkbook.exec(path) ?? [];
  if (other !== undefined)
    return `is a workbook of a kind that leadsync does not write (${other.toLowerCase()}): open it, save it as "Excel workbook (.xlsx)", and name that file`;
  return formatOf(path) === null ? unknown : null;
}
