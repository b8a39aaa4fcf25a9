import { z } from 'zod';
import { fieldTypes } from '../core/lead/value.ts';
import { leadsUrl, publicUrl } from './addresses.ts';
import { alertsSchema, recipientsSchema, remindersSchema } from './reminder-schema.ts';
import { targetSchema } from './target-schema.ts';
import {
  count,
  heading,
  limit,
  listOf,
  retention,
  schedule,
  secretToken,
  text,
  timeZone,
  waitingTime,
} from './values.ts';

const mostOnPage = 1000;
const pageSizes = `must be auto, or a whole number from 1 to ${mostOnPage}`;

const leads = z.strictObject({
  baseUrl: leadsUrl.meta({
    env: 'LEADS_BASE_URL',
    description:
      'Address of the Leads service, such as https://api.example.com. Required. http:// only for this machine.',
  }),
  apiKey: secretToken('the key of the Leads service').meta({
    env: 'LEADS_API_KEY',
    description: 'Organization key or personal access token of the Leads service. Required.',
  }),
  pageSize: z
    .union([z.literal('auto').transform(() => mostOnPage), count(1, mostOnPage, pageSizes)], pageSizes)
    .prefault('auto')
    .describe(
      'Leads on one page: 1 to 1000, or auto (1000). When the service rejects that number, leadsync asks for 500, 200, 100, and at last leaves the number to the service; it halves a page that is too large or takes longer than ten seconds. It remembers for 30 days what the service takes.',
    ),
  query: z
    .record(
      z
        .string()
        .refine((name) => name !== 'limit' && name !== 'cursor', 'is set by paging itself')
        .meta({ title: 'PARAMETER' }),
      z
        .string()
        .describe(
          'Filter passed on to GET /v1/leads as it is. With one set, a lead that is absent never counts as deleted; it has no mails, and its row stays.',
        ),
    )
    .default({}),
});

const direction = z.enum(['two-way', 'to-target', 'to-leads']);

/** What Excel takes as a list written into the cell's rule: no commas, 255 characters in all. */
const cellChoices = z
  .array(
    z
      .string()
      .refine((value) => value.trim() !== '' && !value.includes(','), 'must not be empty or hold a comma'),
  )
  .min(1)
  .refine((values) => values.join(',').length <= 255, 'must not have more than 255 characters in all');

const fieldName = text((name) => {
  if (name === 'id') return "cannot be mapped: the id has a column of its own (the target's idColumn)";
  // Every object has these: a lead without the field would seem to have it.
  if (name in {}) return 'cannot be mapped: every JavaScript object has something of this name';
  return name.trim() === '' ? 'must be the name of a lead field' : null;
});

const field = z
  .union(
    [
      heading,
      z.strictObject({
        column: heading.describe('Heading of the column. Required in this form.'),
        direction: direction
          .exactOptional()
          .describe(
            'Which way edits of this field travel: two-way, to-target, to-leads. Default: that of sync.direction.',
          ),
        type: z
          .enum(fieldTypes)
          .exactOptional()
          .describe(
            'text, or instant (a moment in time). Default: instant for nextFollowUpAt, otherwise text.',
          ),
        values: cellChoices
          .exactOptional()
          .describe(
            'Offered as a list in the cells of a workbook or tab that leadsync makes, such as the stages; anything else may still be typed. For hubspot: the options of the property, which takes nothing else.',
          ),
      }),
    ],
    { error: 'must be a heading, or a mapping with column' },
  )
  .describe(
    'Lead field and the heading of its column (for hubspot: the internal name of a company property); order is column order. Or a mapping with column and what follows. Without `fields`: the fields of the API reference.',
  );

const onDifference = z.enum(['hold', 'leads-win', 'target-wins']).default('hold');

const sync = z.strictObject({
  schedule: schedule.prefault('0 2 * * *').meta({
    env: 'SCHEDULE',
    description:
      'When the worker syncs: a cron pattern of five fields, or every 5m, every 2h: minutes that divide an hour, hours that divide a day.',
  }),
  timeZone: timeZone.default('UTC').meta({ env: 'TZ_NAME', description: 'IANA time zone of the schedule.' }),
  direction: direction.default('two-way').meta({
    env: 'DIRECTION',
    description:
      'Which way edits travel: two-way, to-target (lead to row only), to-leads (row to lead only).',
  }),
  onConflict: onDifference.describe(
    'When both sides changed a field differently: hold, leads-win, target-wins. The loser is kept in the history.',
  ),
  onFirstSync: onDifference.describe(
    'When a lead and its row differ at first sight: hold, leads-win, target-wins.',
  ),
  onLeadDeleted: z
    .enum(['mark', 'keep', 'remove', 'ask'])
    .default('mark')
    .describe(
      'What becomes of the row of a deleted lead: mark, keep, remove, ask (it is held until a person decides whether the row goes or a lead is made of it again).',
    ),
  onRowDeleted: z
    .enum(['restore', 'ignore', 'delete-lead', 'ask'])
    .default('restore')
    .describe(
      'What becomes of the lead of a deleted row: restore (write the row again), ignore, delete-lead, ask (it is held until a person decides between the two).',
    ),
  proveAfter: waitingTime
    .prefault('6h')
    .describe(
      'How long a lead or a row must be missing to count as deleted, from 0m to 30d, such as 30m or 1d: at least two complete scans lack it, the last at least this long after the first. Until then it is left alone.',
    ),
  match: z
    .enum(['off', 'propose', 'exact'])
    .default('off')
    .describe(
      'Whether leadsync compares new rows without an id with new leads: off, propose (`leadsync conflicts` lists the pairs that may be one, and leadsync makes nothing of them before somebody decides), exact (as propose; what is the same in matchBy, alone on both sides, is linked).',
    ),
  matchBy: listOf(z.string(), 'must name at least one field', 'must name no field twice')
    .exactOptional()
    .describe(
      'List of the lead fields by which rows and leads are matched, the first of which names them. Default: companyName and city, as far as they are mapped.',
    ),
  limits: z
    .strictObject({
      maxDeletes: limit
        .prefault('10%')
        .describe(
          'A run with more deletes stops before it writes: rows (10) or a share (10%), which always allows 10 rows, but not more than a quarter of them (one at least).',
        ),
      maxChanges: limit
        .prefault('50%')
        .describe('A run with more changes stops before it writes; does not count on a first sync.'),
    })
    .prefault({}),
  retention: retention.prefault('90d').meta({
    env: 'RETENTION',
    description:
      'How many days leadsync keeps the history of values, and what runs did, for `why` and `undo`. What is needed to stay in step is kept for good.',
  }),
});

const connection = z.strictObject({
  leads,
  target: targetSchema,
  fields: z
    .record(fieldName.meta({ title: 'FIELD' }), field)
    .refine((value) => Object.keys(value).length > 0, 'must map at least one field')
    .exactOptional(),
  sync: sync.prefault({}),
  reminders: remindersSchema.exactOptional(),
});

/** A name becomes part of queue names, where `:` is not allowed. */
export const connectionNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Each setting once. The environment alone is brought into the same form, so both are judged by the same rules. */
export const fileSchema = z.strictObject({
  connections: z
    // The pattern is for editors. zod would not look into a connection whose name is wrong, so checkTogether judges names.
    .record(z.string().meta({ title: 'NAME', pattern: connectionNamePattern.source }), connection)
    .refine((value) => Object.keys(value).length > 0, 'must hold at least one connection'),
  recipients: recipientsSchema.exactOptional(),
  alerts: alertsSchema.exactOptional(),
  publicUrl: publicUrl.exactOptional().meta({
    env: 'PUBLIC_URL',
    description:
      'Address under which people reach the worker\'s HTTP port, such as https://leadsync.example.com: https, http only for this machine; it may have a path, below which all pages then lie. Without it mails have no links that move a follow-up. Beside a leadsync.yaml the variable counts only as `publicUrl: "${PUBLIC_URL}"`.',
  }),
});

export type FileSettings = z.output<typeof fileSchema>;
export type ConnectionSettings = z.output<typeof connection>;
