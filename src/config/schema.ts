import { z } from 'zod';
import { baseUrlMistake, calledUrlMistake, normalizeLeadsUrl } from './base-url.ts';
import { postgresUrl, rule, secretToken, text } from './checked-text.ts';
import { graceMistake, noSuccessMistake, offsetMistake, parseDuration, parseOffset } from './duration.ts';
import { recipientMistake, senderMistake } from './email-address.ts';
import { leadUrlMistake } from './lead-url.ts';
import { limitAllowed, limitMistake, parseLimit } from './limit.ts';
import { parseRetention, retentionAllowed, retentionMistake } from './retention.ts';
import { scheduleMistake, timeZoneMistake } from './schedule.ts';
import { Secret } from './secret.ts';
import { spreadsheetId, spreadsheetMistake, tabMistake } from './spreadsheet.ts';
import { tableNameMistake } from './table-name.ts';
import { sheetNameMistake, targetPathMistake } from './target-path.ts';
import {
  parseQuietHours,
  parseTimeOfDay,
  parseWeekday,
  quietHoursMistake,
  timeOfDayMistake,
  weekdayNames,
} from './time-of-day.ts';

const heading = text((value) => (value.trim() === '' ? 'must be the heading of a column' : null));
const timeZone = text(timeZoneMistake);
const onDifference = z.enum(['hold', 'leads-win', 'target-wins']);
const limit = z
  .union([z.number(), z.string()], { error: limitAllowed })
  .check(rule(limitMistake))
  .transform(parseLimit);

const retention = z
  .union([z.number(), z.string()], { error: retentionAllowed })
  .check(rule(retentionMistake))
  .transform(parseRetention);

export const directionSchema = z.enum(['two-way', 'to-target', 'to-leads']);

/** A whole number of at most four digits, also as `${NAME}` gives it: as text. */
function count(least: number, most: number) {
  const allowed = `must be a whole number from ${least} to ${most}`;
  return z
    .union([
      z.int(allowed).min(least, allowed).max(most, allowed),
      text((value) =>
        /^[1-9]\d{0,3}$/.test(value) && Number(value) >= least && Number(value) <= most ? null : allowed,
      ),
    ])
    .transform(Number);
}
/** One look takes up to four requests, and has to end. */
const perMinute = count(6, 6000);

/** Leads asked for on a page at most. */
const mostOnPage = 1000;

const leads = z.strictObject({
  baseUrl: text(baseUrlMistake).transform(normalizeLeadsUrl),
  apiKey: secretToken('the key of the Leads service'),
  pageSize: z
    .union([z.literal('auto').transform(() => mostOnPage), count(1, mostOnPage)], {
      error: `must be auto, or a whole number from 1 to ${mostOnPage}`,
    })
    .prefault('auto'),
  query: z
    .record(
      z.string().refine((name) => name !== 'limit' && name !== 'cursor', 'is set by paging itself'),
      z.string(),
    )
    .default({}),
});

const columns = {
  idColumn: heading.optional(),
  statusColumn: heading.optional(),
  marker: z.boolean().default(true),
};

const workbook = z.strictObject({
  type: z.literal('workbook'),
  path: text(targetPathMistake),
  sheet: text(sheetNameMistake).optional(),
  ...columns,
  timeZone: timeZone.optional(),
});

const googleSheets = z.strictObject({
  type: z.literal('google-sheets'),
  spreadsheet: text(spreadsheetMistake).transform(spreadsheetId),
  tab: text(tabMistake).default('Leads'),
  ...columns,
  dates: z.enum(['native', 'iso']).default('native'),
  readsPerMinute: perMinute.prefault(60),
  writesPerMinute: perMinute.prefault(60),
});

const portalAllowed = 'must be the number of the portal, as in the addresses of HubSpot';
const hubspot = z.strictObject({
  type: z.literal('hubspot'),
  token: secretToken('the access token of HubSpot'),
  portal: z
    .union([
      z.int(portalAllowed).min(1, portalAllowed),
      text((value) => (/^[1-9]\d{0,14}$/.test(value) ? null : portalAllowed)),
    ])
    .transform(Number)
    .optional(),
  ...columns,
  timeZone: timeZone.optional(),
});

const postgresTable = z.strictObject({
  type: z.literal('postgres-table'),
  url: postgresUrl(),
  table: text(tableNameMistake),
  ...columns,
  timeZone: timeZone.optional(),
});

const target = z.discriminatedUnion('type', [workbook, googleSheets, hubspot, postgresTable]);

export const targetTypes: readonly string[] = ['workbook', 'google-sheets', 'hubspot', 'postgres-table'];

/** What Excel takes as a list written into the cell's rule: no commas, 255 characters in all. */
const listValues = z
  .array(
    z
      .string()
      .refine((value) => value.trim() !== '' && !value.includes(','), 'must not be empty or hold a comma'),
  )
  .min(1)
  .refine((values) => values.join(',').length <= 255, 'must not have more than 255 characters in all');

const field = z.union([
  heading,
  z.strictObject({
    column: heading,
    direction: directionSchema.optional(),
    type: z.enum(['text', 'instant']).optional(),
    values: listValues.optional(),
  }),
]);

const fieldName = text((name) => {
  if (name === 'id') return "cannot be mapped: the id has a column of its own (the target's idColumn)";
  // Every object has these: a lead without the field would seem to have it.
  if (name in {}) return 'cannot be mapped: every JavaScript object has something of this name';
  return name.trim() === '' ? 'must be the name of a lead field' : null;
});

const fields = z
  .record(fieldName, field)
  .check(rule((value) => (Object.keys(value).length === 0 ? 'must map at least one field' : null)));

const matchFields = z.array(z.string()).check(
  rule((list) => {
    if (list.length === 0) return 'must name at least one field';
    return isRepeated(list) ? 'must name no field twice' : null;
  }),
);

const sync = z.strictObject({
  schedule: text(scheduleMistake).default('0 2 * * *'),
  timeZone: timeZone.default('UTC'),
  direction: directionSchema.default('two-way'),
  onConflict: onDifference.default('hold'),
  onFirstSync: onDifference.default('hold'),
  onLeadDeleted: z.enum(['mark', 'keep', 'remove']).default('mark'),
  onRowDeleted: z.enum(['restore', 'ignore', 'delete-lead']).default('restore'),
  match: z.enum(['off', 'propose', 'exact']).default('off'),
  matchBy: matchFields.optional(),
  limits: z
    .strictObject({ maxDeletes: limit.prefault('10%'), maxChanges: limit.prefault('50%') })
    .prefault({}),
  retention: retention.prefault('90d'),
});

function isRepeated(list: readonly string[]): boolean {
  return new Set(list.map((one) => one.normalize('NFC').trim().toLowerCase())).size < list.length;
}

const recipients = z.array(text(recipientMistake)).check(
  rule((list) => {
    if (list.length === 0) return 'must name at least one recipient';
    return isRepeated(list) ? 'must name nobody twice' : null;
  }),
);

/** Values of a lead field, compared without case. */
const leadValues = z.array(text((value) => (value.trim() === '' ? 'must not be empty' : null))).check(
  rule((list) => {
    if (list.length === 0) return 'must name at least one value';
    return isRepeated(list) ? 'must name no value twice' : null;
  }),
);

const route = z.strictObject({
  when: z
    .record(
      text((name) => (name.trim() === '' ? 'must be the name of a lead field' : null)),
      leadValues,
    )
    .check(
      rule((value) =>
        Object.keys(value).length === 0
          ? 'must name at least one field: what is for everybody else stands in to'
          : null,
      ),
    ),
  to: recipients,
});

const before = z
  .array(text(offsetMistake).transform(parseOffset))
  .check(
    rule((list) =>
      new Set(list.map((offset) => offset.text)).size < list.length
        ? 'must name no time twice (60m is 1h)'
        : null,
    ),
  );

const workingDays = z.array(z.enum(weekdayNames)).check(
  rule((list) => {
    if (list.length === 0) return `must leave a working day: ${weekdayNames.join(', ')}`;
    return isRepeated(list) ? 'must name no day twice' : null;
  }),
);

const reminders = z.strictObject({
  from: text(senderMistake).optional(),
  to: recipients,
  timeZone: timeZone.optional(),
  before: before.prefault(['0m']),
  quietHours: text(quietHoursMistake).transform(parseQuietHours).optional(),
  workingDays: workingDays.default([...weekdayNames]).transform((names) => names.map(parseWeekday)),
  grace: text(graceMistake).transform(parseDuration).prefault('24h'),
  skipStages: leadValues.optional(),
  onlyStages: leadValues.optional(),
  routes: z.array(route).optional(),
  toColumn: heading.optional(),
  digest: text(timeOfDayMistake).transform(parseTimeOfDay).optional(),
  calendar: z.boolean().default(false),
  leadUrl: text(leadUrlMistake).optional(),
  templates: text((path) =>
    path.trim() === '' || path.includes('\0') ? 'must be the path of a folder' : null,
  ).optional(),
  onUnknown: z.enum(['resend', 'hold']).default('resend'),
});

const connection = z.strictObject({
  leads,
  target,
  fields: fields.optional(),
  sync: sync.prefault({}),
  reminders: reminders.optional(),
});

/** An address whose path is a key. */
function calledUrl(place?: string) {
  return text((value) => calledUrlMistake(value, place)).transform((value) => new Secret(value));
}

const alerts = z
  .strictObject({
    email: recipients.optional(),
    from: text(senderMistake).optional(),
    webhook: calledUrl().optional(),
    heartbeat: calledUrl('{connection}').optional(),
    noSuccessFor: text(noSuccessMistake).transform(parseDuration).optional(),
  })
  .check(
    rule(({ email, webhook, heartbeat }) =>
      email === undefined && webhook === undefined && heartbeat === undefined
        ? 'must hold email, webhook or heartbeat: nobody would be told'
        : null,
    ),
  );

/** A name becomes part of queue names, where `:` is not allowed. */
export const connectionNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** leadsync.yaml. The environment alone is brought into the same form, so both are judged by the same rules. */
export const fileSchema = z.strictObject({
  connections: z
    // The pattern is for editors. zod would not look into a connection whose name is wrong, so checkTogether judges names.
    .record(z.string().meta({ pattern: connectionNamePattern.source }), connection)
    .check(rule((value) => (Object.keys(value).length === 0 ? 'must hold at least one connection' : null))),
  alerts: alerts.optional(),
});

export type ConnectionSettings = z.output<typeof connection>;
export type AlertFileSettings = z.output<typeof alerts>;
