import { isIP } from 'node:net';
import { z } from 'zod';
import { fieldTypes } from '../core/lead/value.ts';
import { leadsUrl, publicUrl } from './addresses.ts';
import { alertsSchema, recipientsSchema, remindersSchema } from './reminder-schema.ts';
import { targetSchema } from './target-schema.ts';
import {
  count,
  filled,
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
      'Address of the Leads service, such as https://api.example.com; http:// only for this machine. Required.',
  }),
  apiKey: secretToken('the key of the Leads service').meta({
    env: 'LEADS_API_KEY',
    description: 'Organization key or personal access token of the Leads service. Required.',
  }),
  pageSize: z
    .union([z.literal('auto').transform(() => mostOnPage), count(1, mostOnPage, pageSizes)], pageSizes)
    .prefault('auto')
    .describe(
      'Leads on a page: 1 to 1000, or auto (1000; less for 30 days, where the service rejects that or a page is too large or slow).',
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
          'Filter for GET /v1/leads. Leads that it hides never count as deleted; they have no mails, and their rows stay.',
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
  .min(1, 'must name at least one')
  .refine((values) => values.join(',').length <= 255, 'must not have more than 255 characters in all');

const wordMeanings = z
  .record(
    z.string().meta({ title: 'WORD' }),
    filled('must be the word of the service').describe(
      "The service's word for this word of the table, the same both ways.",
    ),
  )
  .refine((words) => Object.keys(words).length > 0, 'must name at least one word');

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
          .describe('two-way, to-target, to-leads. Default: sync.direction.'),
        type: z
          .enum(fieldTypes)
          .exactOptional()
          .describe(
            `${fieldTypes.join(', ')} (instant: a moment). Default: that of the API reference, else text.`,
          ),
        values: z
          .union(
            [cellChoices, wordMeanings],
            'must be a list of words, or a mapping of words of the table to those of the service',
          )
          .exactOptional()
          .describe(
            "A list to choose from in a workbook or tab that leadsync makes; anything else may be typed. For hubspot: the property's only options. Or a mapping of the table's words to the service's.",
          ),
      }),
    ],
    { error: 'must be a heading, or a mapping with column' },
  )
  .describe(
    "Heading of the field's column (hubspot: internal name of a property), or a mapping with column and what follows; in column order. Without `fields`: those of the API reference.",
  );

const onDifference = z.enum(['hold', 'leads-win', 'target-wins']).default('hold');

const sync = z.strictObject({
  schedule: schedule.prefault('0 2 * * *').meta({
    env: 'SCHEDULE',
    description: 'When the worker syncs: cron, five fields; or every 5m, every 2h.',
  }),
  timeZone: timeZone
    .default('UTC')
    .meta({ env: 'TZ_NAME', description: 'Time zone (IANA) of the schedule.' }),
  direction: direction.default('two-way').meta({
    env: 'DIRECTION',
    description: 'Which way edits travel: two-way, to-target (leads to rows), to-leads (rows to leads).',
  }),
  onConflict: onDifference.describe(
    'When both sides changed a field: hold, leads-win, target-wins. The history keeps the loser.',
  ),
  onFirstSync: onDifference.describe(
    'When lead and row differ at first sight: hold, leads-win, target-wins.',
  ),
  onLeadDeleted: z
    .enum(['mark', 'keep', 'remove', 'ask'])
    .default('mark')
    .describe('The row of a deleted lead: mark, keep, remove, ask (held until somebody decides).'),
  onRowDeleted: z
    .enum(['restore', 'ignore', 'delete-lead', 'ask'])
    .default('restore')
    .describe(
      'The lead of a deleted row: restore (write the row again), ignore, delete-lead, ask (held until somebody decides).',
    ),
  proveAfter: waitingTime
    .exactOptional()
    .describe(
      'How long a lead or row must be missing to count as deleted (0m to 30d), in two complete scans at least. Default: 6h where the schedule runs more often than that, else 0m.',
    ),
  match: z
    .enum(['off', 'propose', 'exact'])
    .default('off')
    .describe(
      'Whether new rows are compared with new leads: off, propose (`leadsync conflicts` asks which are one), exact (the same: linked).',
    ),
  matchBy: listOf(z.string(), 'must name at least one field', 'must name no field twice')
    .exactOptional()
    .describe('Fields to match by, the name first. Default: companyName and city, as far as mapped.'),
  limits: z
    .strictObject({
      maxDeletes: limit
        .prefault('10%')
        .describe(
          'A run with more deletes stops: rows (10) or a share (10%, which allows 10 rows, at most a quarter).',
        ),
      maxChanges: limit.prefault('50%').describe('A run with more changes stops; not a first sync.'),
    })
    .prefault({}),
  retention: retention.prefault('90d').meta({
    env: 'RETENTION',
    description: 'Days of history, for `why` and `undo`.',
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

const proxyAddress = z
  .string()
  .refine((text) => {
    const [address = '', bits, ...rest] = text.split('/');
    if (rest.length > 0 || isIP(address) === 0) return false;
    const most = isIP(address) === 6 ? 128 : 32;
    return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most);
  }, 'must be an IP address, or a network such as 10.0.0.0/8')
  .refine(
    (text) => !/\/0+$/.test(text),
    "must not be every address: anybody could then name themselves in `userHeader`. Name the proxy's own",
  );

/** Each setting once. The environment alone is brought into the same form, so both are judged by the same rules. */
export const fileSchema = z.strictObject({
  connections: z
    // The pattern is for editors. zod would not look into a connection whose name is wrong, so checkTogether judges names.
    .record(z.string().meta({ title: 'NAME', pattern: connectionNamePattern.source }), connection)
    .refine((value) => Object.keys(value).length > 0, 'must hold at least one connection'),
  recipients: recipientsSchema.exactOptional(),
  alerts: alertsSchema.exactOptional(),
  statusPage: z
    .strictObject({
      trustedProxy: z.array(proxyAddress).min(1, 'must name at least one').meta({
        description:
          'Addresses or networks (10.0.0.0/8) of the proxies in front that sign people in and set `userHeader`, whatever a browser sends, such as oauth2-proxy or Authelia. Required. From there no ADMIN_TOKEN is asked for.',
      }),
      userHeader: z
        .string()
        .regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'must be the name of a header')
        .default('X-Forwarded-User')
        .meta({ description: 'Header in which the proxy names the person; `why` shows who decided.' }),
      deciders: z.array(filled('must be a name')).exactOptional().meta({
        description:
          'Names of those who may decide, pause and sync; all others may look. Default: everybody whom the proxy signs in.',
      }),
    })
    .exactOptional(),
  publicUrl: publicUrl.exactOptional().meta({
    env: 'PUBLIC_URL',
    description:
      'Where people reach the worker\'s HTTP port, such as https://leadsync.example.com (a path may follow), for links in mails. Beside a leadsync.yaml the variable counts only as `publicUrl: "${PUBLIC_URL}"`.',
  }),
});

export type FileSettings = z.output<typeof fileSchema>;
export type ConnectionSettings = z.output<typeof connection>;
