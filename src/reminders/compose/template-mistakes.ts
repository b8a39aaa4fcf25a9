import type { FieldMapping } from '../../core/lead/mapping.ts';
import { sampleViews } from './sample-views.ts';
import {
  baseOf,
  extension,
  fallbackLanguage,
  mergedSources,
  ownSources,
  readSources,
  type TemplateFolder,
} from './template-sources.ts';
import {
  type LanguageTemplates,
  languageOf,
  reasonOf,
  sourceName,
  strictRenderer,
  type TemplateName,
  templateNames,
} from './templates.ts';

/**
 * One sentence each. Renders every template in every language with a full and an empty lead; unknown names are mistakes. `fields`: the mapped
 * ones, known as `lead.fields.NAME`.
 */
export async function templateMistakes(
  folder: string | null,
  fields: readonly FieldMapping[],
  language: string,
): Promise<readonly string[]> {
  const ours = await ownSources();
  let theirs: TemplateFolder | null;
  try {
    theirs = folder === null ? null : await readSources(folder);
  } catch (error) {
    return [`the folder of the mail templates, ${folder}, cannot be read: ${reasonOf(error)}`];
  }
  const unknown =
    languageOf(language, ours, theirs) === language
      ? []
      : [`there are no mail templates in ${language}: these mails are in English`];
  if (folder === null || theirs === null) return unknown;
  const words = Object.keys(ours.languages.get(fallbackLanguage) ?? {});
  const known = new Set<string>([...templateNames, ...Object.keys(ours.common), ...words]);
  const all = [theirs.common, ...theirs.languages.values()].flatMap((sources) => Object.keys(sources));
  const list = templateNames.map((name) => `${name}${extension}`).join(', ');
  if (!all.some((name) => known.has(name))) return [...unknown, `${folder} holds none of ${list}`];
  const isMail = (name: string): boolean => /^(?:reminder|moved|cancelled|digest|calendar)\./.test(name);
  const strange = [...new Set(all)].filter((name) => isMail(name) && !known.has(name));
  const toTry = new Set([...ours.languages.keys(), ...theirs.languages.keys()]);
  return [
    ...unknown,
    ...strange.map((name) => `${name}${extension} in ${folder} is never used; known are ${list}`),
    ...new Set([...toTry].flatMap((one) => mistakesIn(one, folder, ours, theirs, fields))),
    ...[...theirs.languages].flatMap(([own, sources]) => {
      if (languageOf(own, ours, null) === own) return [];
      const here = { ...theirs.common, ...theirs.languages.get(baseOf(own)), ...sources };
      const missing = words.filter((name) => here[name] === undefined).map((name) => `${name}${extension}`);
      if (missing.length === 0) return [];
      return [`${own} in ${folder} lacks ${missing.join(', ')}: what these say is in English`];
    }),
  ];
}

function mistakesIn(
  language: string,
  folder: string,
  ours: TemplateFolder,
  theirs: TemplateFolder,
  fields: readonly FieldMapping[],
): string[] {
  const sources = mergedSources(ours, theirs, language);
  const mistakes: string[] = [];
  const mistake = (template: string, what: string): void => {
    const name = sourceName(template, sources);
    const own = [language, baseOf(language)].find((one) => theirs.languages.get(one)?.[name] !== undefined);
    mistakes.push(`${own === undefined ? '' : `${own}/`}${name}${extension} in ${folder}: ${what}`);
  };
  const strict = strictRenderer(sources, language);
  const render: LanguageTemplates['render'] = (name, view) => {
    try {
      return strict(name, view);
    } catch (error) {
      mistake(name, reasonOf(error));
      return 'a mistake';
    }
  };
  const views = sampleViews(fields, { language, render });
  for (const name of templateNames)
    for (const view of views[viewOf(name)])
      if (render(name, view).trim() === '') mistake(name, 'its result is empty');
  return mistakes;
}

function viewOf(name: TemplateName): 'digest' | 'reminder' | 'moved' | 'cancelled' {
  if (name.startsWith('digest.')) return 'digest';
  if (name.startsWith('moved.')) return 'moved';
  return name.startsWith('cancelled.') ? 'cancelled' : 'reminder';
}
