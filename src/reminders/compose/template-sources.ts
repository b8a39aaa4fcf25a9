import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Sources by name, without `.liquid`. Other names than `TemplateName` are for `{% render %}`. */
export type TemplateSources = Readonly<Record<string, string>>;

export interface TemplateFolder {
  /** For every language. */
  readonly common: TemplateSources;
  /** Those in a folder of their own, such as `de`, by its name in lower case. */
  readonly languages: ReadonlyMap<string, TemplateSources>;
}

export const extension = '.liquid';

export const fallbackLanguage = 'en';

const ownFolder = join(import.meta.dirname, 'templates');

export function ownSources(): Promise<TemplateFolder> {
  return readSources(ownFolder);
}

/** Every `.liquid` file of a folder and of those below it that are named like languages. Throws as the file system does. */
export async function readSources(folder: string): Promise<TemplateFolder> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && /^[a-z]+(?:-[a-z]+)*$/i.test(entry.name));
  const languages = folders.map(
    async ({ name }) => [name.toLowerCase(), await readFiles(join(folder, name))] as const,
  );
  return { common: await readFiles(folder), languages: new Map(await Promise.all(languages)) };
}

/** By name without the ending. The line end at the end of a file is no part of the template. */
async function readFiles(folder: string): Promise<TemplateSources> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const entries = names.map(async (name) => {
    const source = await readFile(join(folder, name), 'utf8');
    return [name.slice(0, -extension.length), source.replace(/\r?\n$/, '')] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The templates of a language: the user's for it, theirs for every language, ours for it, ours in English. */
export function mergedSources(
  ours: TemplateFolder,
  theirs: TemplateFolder | null,
  language: string,
): TemplateSources {
  const names = [baseOf(language), language.toLowerCase()];
  const inLanguage = (folder: TemplateFolder | null) =>
    Object.assign({}, ...names.map((name) => folder?.languages.get(name))) as TemplateSources;
  return {
    ...ours.languages.get(fallbackLanguage),
    ...ours.common,
    ...inLanguage(ours),
    ...theirs?.common,
    ...inLanguage(theirs),
  };
}

export function baseOf(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? '';
}
