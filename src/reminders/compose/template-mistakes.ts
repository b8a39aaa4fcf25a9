import type { FieldMapping } from '../../core/lead/mapping.ts';
import {
  baseOf,
  extension,
  fallbackLanguage,
  mergedSources,
  ownSources,
  readSources,
  type TemplateFolder,
  type LanguageTemplates,
  languageOf,
  reasonOf,
  sourceName,
  strictRenderer,
  type TemplateName,
  templateNames,
} from './templates.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { type DigestItem, digestView } from './compose-digest.ts';
import { type ReminderContent, reminderView } from './compose-reminder.ts';

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

/** Template data with everything and with as little as possible, for each kind of mail; fictitious. */
export function sampleViews(fields: readonly FieldMapping[], templates: LanguageTemplates) {
  const now = Date.UTC(2026, 0, 15, 9);
  const dueAt = now + 3_600_000;
  const id = '019a0000-0000-7000-8000-000000000000';
  const cells = Object.fromEntries(
    fields.map(({ field, type }) => [
      field,
      fieldKinds[type].isMoment ? new Date(dueAt).toISOString() : 'Example',
    ]),
  );
  const zones = { timeZone: 'UTC', dayZone: 'UTC', templates };
  const row = { target: 'leads.xlsx', url: 'https://example.com', number: 2 };
  const leadUrl = 'https://app.example.com/leads/{id}';
  const page = 'https://leadsync.example.com/follow-up/example';
  const full: ReminderContent = {
    ...zones,
    kind: 'reminder',
    lead: { id, cells },
    fields,
    dueAt,
    offsetText: '0m',
    now,
    changes: [...fields, { field: 'other' }].map(({ field }) => {
      return { field, before: null, after: cells[field] ?? null };
    }),
    row,
    leadUrl,
    links: { page, day: `${page}?do=day`, week: `${page}?do=week`, done: `${page}?do=done` },
    notes: { lateSince: now, uncheckedSince: now, isTest: true },
    reason: null,
    hasEntry: true,
  };
  const bare: ReminderContent = {
    ...full,
    lead: { id, cells: {} },
    dueAt: Date.UTC(2026, 0, 12),
    changes: [],
    row: null,
    leadUrl: null,
    links: undefined,
    notes: { uncheckedSince: null },
    hasEntry: false,
  };
  const both = (change: Partial<ReminderContent>) =>
    [full, bare].map((one) => reminderView({ ...one, ...change }));
  const item: DigestItem = {
    connection: 'berlin',
    fields,
    leadId: id,
    cells,
    dueAt,
    day: null,
    dayZone: 'UTC',
    row,
    leadUrl,
    page,
  };
  const little: DigestItem = {
    ...item,
    cells: {},
    row: { target: 'leads.xlsx', number: null },
    leadUrl: null,
    page: undefined,
  };
  const digest = { timeZone: 'UTC', templates, now, recipient: 'anna@example.com' };
  return {
    reminder: both({}),
    moved: both({ kind: 'moved' }),
    cancelled: both({ kind: 'cancelled', reason: 'cleared' }),
    digest: [
      digestView({
        ...digest,
        overdue: [{ ...item, dueAt: now - 5 * 86_400_000 }],
        today: [little, { ...item, connection: 'hamburg' }],
        week: [item],
        counts: { overdue: 98, today: 2, week: 1 },
        waiting: ['Acme GmbH · Stage', 'Beta AG'],
        decideUrl: 'https://leadsync.example.com/conflicts',
        feedUrl: 'https://leadsync.example.com/calendar/token.ics',
      }),
      digestView({
        ...digest,
        overdue: [],
        today: [{ ...little, day: '2026-01-15' }],
        week: [],
        counts: { overdue: 0, today: 1, week: 0 },
        waiting: [],
        decideUrl: null,
        feedUrl: null,
      }),
    ],
  };
}
