import { fieldKinds } from '../../core/lead/field-kinds.ts';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { LanguageTemplates } from './templates.ts';
import { type DigestItem, digestView } from './compose-digest.ts';
import { type ReminderContent, reminderView } from './compose-reminder.ts';

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
