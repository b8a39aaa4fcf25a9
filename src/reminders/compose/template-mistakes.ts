import type { FieldMapping } from '../../core/lead/mapping.ts';
import { digestView } from './compose-digest.ts';
import { reminderView } from './compose-reminder.ts';
import {
  ownSources,
  readSources,
  reasonOf,
  strictRenderer,
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
  const render = strictRenderer({ ...ours, ...theirs });
  const mistakes = found.flatMap((name) => {
    const reasons = views[name.startsWith('reminder') ? 'reminder' : 'digest'].flatMap((view) => {
      try {
        return render(name, view).trim() === '' ? ['its result is empty'] : [];
      } catch (error) {
        return [reasonOf(error)];
      }
    });
    return [...new Set(reasons)].map((reason) => `${name}.liquid in ${folder}: ${reason}`);
  });
  return [
    ...strange.map((name) => `${name}.liquid in ${folder} is never used; known are ${known}`),
    ...mistakes,
  ];
}

/** A full and an empty lead in each kind of mail. */
function sampleViews(fields: readonly FieldMapping[]) {
  const now = Date.UTC(2026, 0, 15, 9);
  const dueAt = now + 3_600_000;
  const id = '019a0000-0000-7000-8000-000000000000';
  const cells = Object.fromEntries(
    fields.map(({ field, type }) => [field, type === 'instant' ? new Date(dueAt).toISOString() : 'Example']),
  );
  const leadUrl = 'https://app.example.com/leads/{id}';
  const reminder = {
    fields,
    timeZone: 'UTC',
    now,
    dueAt,
    offsetText: '0m',
    lead: { id, cells },
    changes: fields.map(({ field }) => ({ field, before: null, after: cells[field] ?? null })),
    row: { target: 'leads.xlsx', url: 'https://example.com', number: 2 },
    leadUrl,
    note: 'This mail is late.',
  };
  const { row } = reminder;
  const item = { connection: 'berlin', fields, leadId: id, dueAt, day: null, cells, row, leadUrl };
  const bare = { ...item, cells: {}, row: { target: 'leads.xlsx', number: null }, leadUrl: null };
  const digest = {
    timeZone: 'UTC',
    now,
    overdue: [{ ...item, dueAt: now - 5 * 86_400_000 }],
    today: [bare, { ...item, connection: 'hamburg' }],
    week: [item],
    counts: { overdue: 98, today: 1, week: 1 },
    recipient: 'anna@example.com',
  };
  return {
    reminder: [
      reminderView(reminder),
      reminderView({
        ...reminder,
        lead: { id, cells: {} },
        changes: [],
        row: { target: 'leads.xlsx', number: null },
        leadUrl: null,
        note: null,
      }),
    ],
    digest: [
      digestView(digest),
      digestView({
        ...digest,
        overdue: [],
        today: [{ ...bare, day: '2026-01-15' }],
        week: [],
        counts: { overdue: 0, today: 1, week: 0 },
      }),
    ],
  };
}
