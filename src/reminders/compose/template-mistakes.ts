import type { FieldMapping } from '../../core/lead/mapping.ts';
import { digestView } from './compose-digest.ts';
import { reminderView } from './compose-reminder.ts';
import {
  ownSources,
  readSources,
  reasonOf,
  renderStrictly,
  type TemplateName,
  templateNames,
  type TemplateSources,
} from './templates.ts';

/**
 * The mistakes in a template folder (`reminders.templates`), one sentence each. Renders every template with a full and an
 * empty lead; unknown names are mistakes. `fields`: the mapped ones, known as `lead.fields.NAME`.
 */
export async function templateMistakes(
  folder: string,
  fields: readonly FieldMapping[],
): Promise<readonly string[]> {
  const ours = await ownSources();
  let theirs: TemplateSources;
  try {
    theirs = await readSources(folder);
  } catch (error) {
    return [`the folder of the mail templates, ${folder}, cannot be read: ${reasonOf(error)}`];
  }
  const found = templateNames.filter((name) => theirs[name] !== undefined);
  const known = templateNames.map((name) => `${name}.liquid`).join(', ');
  if (found.length === 0) return [`${folder} holds none of ${known}`];
  const strange = Object.keys(theirs).filter(
    (name) => /^(?:reminder|digest)\./.test(name) && ours[name] === undefined,
  );
  const views = sampleViews(fields);
  return [
    ...strange.map((name) => `${name}.liquid in ${folder} is never used; known are ${known}`),
    ...found.flatMap((name) => mistakesOf({ ...ours, ...theirs }, name, folder, views)),
  ];
}

type Views = Readonly<Record<'reminder' | 'digest', readonly object[]>>;

function mistakesOf(sources: TemplateSources, name: TemplateName, folder: string, views: Views): string[] {
  const said = views[name.startsWith('reminder') ? 'reminder' : 'digest'].map((view) => {
    try {
      return renderStrictly(sources, name, view).trim() === '' ? 'its result is empty' : null;
    } catch (error) {
      return reasonOf(error);
    }
  });
  return [...new Set(said)].flatMap((reason) =>
    reason === null ? [] : [`${name}.liquid in ${folder}: ${reason}`],
  );
}

function sampleViews(fields: readonly FieldMapping[]): Views {
  const now = Date.UTC(2026, 0, 15, 9);
  const dueAt = now + 3_600_000;
  const id = '019a0000-0000-7000-8000-000000000000';
  const full = Object.fromEntries(
    fields.map(({ field, type }) => [field, type === 'instant' ? new Date(dueAt).toISOString() : 'Example']),
  );
  const common = { fields, timeZone: 'UTC', now };
  const reminder = { ...common, dueAt, offsetText: '0m' };
  const item = { leadId: id, dueAt, cells: full };
  const lists = { overdue: [], today: [item], week: [] };
  return {
    reminder: [
      reminderView({
        ...reminder,
        lead: { id, cells: full },
        changes: fields.map(({ field }) => ({ field, before: null, after: full[field] ?? null })),
        row: { target: 'leads.xlsx', row: 2 },
        leadUrl: 'https://app.example.com/leads/{id}',
        note: 'This mail comes late.',
      }),
      reminderView({
        ...reminder,
        lead: { id, cells: {} },
        changes: [],
        row: { target: 'leads.xlsx', row: null },
        leadUrl: null,
        note: null,
      }),
    ],
    digest: [
      digestView({
        ...common,
        ...lists,
        overdue: [item],
        week: [item],
        counts: { overdue: 98, today: 0, week: 1 },
        recipient: 'anna@example.com',
        leadUrl: 'https://app.example.com/leads/{id}',
      }),
      digestView({
        ...common,
        ...lists,
        today: [{ ...item, cells: {} }],
        counts: { overdue: 0, today: 1, week: 0 },
        recipient: 'anna@example.com',
        leadUrl: null,
      }),
    ],
  };
}
