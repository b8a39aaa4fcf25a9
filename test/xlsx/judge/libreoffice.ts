import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse as parsePath } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';

const run = promisify(execFile);

/**
 * Separator, quote, UTF-8, first row, no column formats, language, quotes only where needed, values as they are and not
 * as they are shown, no formulas, no trimming, all sheets (LibreOffice help, "Filter Options for CSV").
 */
const csvFilter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1';

/** Recalculates every formula when a file is opened, as Excel does when the file asks for it. */
const profile = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>`;

/** One LibreOffice with a profile of its own, so that several can run at once. */
export class LibreOffice implements AsyncDisposable {
  readonly #folder: string;
  #calls = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(): Promise<LibreOffice> {
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-soffice-'));
    await mkdir(join(folder, 'profile', 'user'), { recursive: true });
    await writeFile(join(folder, 'profile', 'user', 'registrymodifications.xcu'), profile);
    return new LibreOffice(folder);
  }

  /** Converts files; gives the folder with the results. Names without extension must differ. */
  async convert(paths: readonly string[], to: string): Promise<string> {
    const out = join(this.#folder, `out-${++this.#calls}`);
    await mkdir(out);
    const options = [
      `-env:UserInstallation=${pathToFileURL(join(this.#folder, 'profile')).href}`,
      '--headless',
      '--norestore',
      '--convert-to',
      to,
      '--outdir',
      out,
    ];
    await run('soffice', [...options, ...paths], { timeout: 240_000, maxBuffer: 1e8 });
    return out;
  }

  /** What each sheet of each workbook shows, as LibreOffice reads it: by name of the file, then of the sheet. */
  async read(paths: readonly string[]): Promise<Map<string, Map<string, string[][]>>> {
    const out = await this.convert(paths, csvFilter);
    const files = new Map(paths.map((path) => [parsePath(path).name, new Map<string, string[][]>()]));
    for (const name of await readdir(out)) {
      const owner = [...files.keys()]
        .filter((file) => name.startsWith(`${file}-`))
        .toSorted((a, b) => b.length - a.length)[0];
      if (owner === undefined) continue;
      const rows: string[][] = parse(await readFile(join(out, name), 'utf8'), { relax_column_count: true });
      files.get(owner)?.set(name.slice(owner.length + 1, -'.csv'.length), rows);
    }
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
