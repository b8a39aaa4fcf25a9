import { counted } from '../core/lead/wording.ts';
import { dayOf } from '../core/lead/instant.ts';
import { localTime } from '../reminders/plan/local-time.ts';
import {
  comingReminders,
  listDigests,
  listReminders,
  mailName,
  type Reminder,
  type ReminderState,
} from '../store/mails.ts';
import { beginFeeds, feedTokens, replaceFeedToken, replaceLinkKey } from '../store/keeper.ts';
import type { SyncContext } from '../sync/context.ts';
import { type CommonOptions, withStore } from './with-store.ts';
import { addressless, describeAddressless, describeOddYears, oddYears } from './unmailed.ts';
import { type WithCompany, withCompanies } from '../store/pairs.ts';
import { beforeWords, shownCompany, print, printJson } from './output.ts';
import { previewReminder } from './preview-reminder.ts';
import { unlessStopped } from './stop.ts';
import { withApp } from './with-app.ts';
import { feedRecipients, reportCalendars, type ReportedEntry } from '../store/calendar-entries.ts';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { connectionsWithFeed, feedPath } from '../reminders/feed/calendar-feed.ts';

export interface RemindersOptions extends CommonOptions {
  /** A lead: its mail; true: the list. */
  readonly reminders?: string | true;
  readonly cancelled?: boolean;
  readonly feeds?: boolean;
  readonly newFeed?: string;
  readonly newLinkKey?: boolean;
}

const shown = 20;

type Item = WithCompany<Reminder>;

const lists = {
  coming: ['scheduled', 'sending'],
  sent: ['sent'],
  failed: ['failed'],
  missed: ['missed'],
  skipped: ['skipped'],
  cancelled: ['cancelled'],
} as const satisfies Readonly<Record<string, readonly ReminderState[]>>;

type ListName = keyof typeof lists;

type Mails = Awaited<ReturnType<typeof mailsOf>>;

/** What `leadsync status` does of reminders: lists or previews them, renews the addresses that mails and feeds have. */
export function reminders(options: RemindersOptions): Promise<void> {
  const { reminders: lead, feeds = false, newFeed, cancelled = false, json: asJson = false } = options;
  if (typeof lead === 'string')
    return withApp(options, (app) => unlessStopped(() => previewReminder(app, lead, asJson)));
  return withStore(options, async (pool, config) => {
    if (feeds || newFeed !== undefined) return calendarFeeds(pool, config, newFeed, asJson);
    if (options.newLinkKey === true) return renewLinks(pool, asJson);
    const all = await Promise.all(
      config.connections.map((one) => mailsOf({ pool, connection: one }, cancelled)),
    );
    if (asJson) return printJson({ connections: all.map(json) });
    print(all.map(describe).join('\n\n'));
  });
}

/** For when mails got into wrong hands. Workers that run read the key with each mail. */
async function renewLinks(pool: pg.Pool, asJson: boolean): Promise<void> {
  await replaceLinkKey(pool);
  if (asJson) return printJson({ renewed: true });
  print('The links of all mails sent so far lead nowhere any more. Mails from now on have new ones.');
}

type Scope = Pick<SyncContext, 'pool' | 'connection'>;

/** The cancelled ones only when they were requested. */
async function mailsOf(context: Scope, withCancelled: boolean) {
  const { pool, connection } = context;
  const { name } = connection;
  const names = (Object.keys(lists) as ListName[]).filter((list) => withCancelled || list !== 'cancelled');
  const listed = new Map<ListName, readonly Item[]>();
  for (const list of names)
    listed.set(list, await withCompanies(pool, name, await listReminders(pool, name, lists[list], shown)));
  const { count } = await comingReminders(pool, name, 1);
  return {
    connection: name,
    timeZone: connection.reminders?.rules.timeZone ?? 'UTC',
    /** In which a due moment may be a day. */
    dayZone: connection.reminders?.rules.dayZone ?? 'UTC',
    comingCount: Math.max(count, listed.get('coming')?.length ?? 0),
    listed,
    addressless: await addressless(context),
    oddYears: await oddYears(context),
    digests: await listDigests(pool, name, shown),
    calendars: await calendarsOf(context),
  };
}

function json({ connection, comingCount, listed, digests, ...rest }: Mails): object {
  return {
    connection,
    comingCount,
    ...Object.fromEntries([...listed].map(([list, items]) => [list, items.map(reminderJson)])),
    ...(rest.addressless !== null && { withoutAddress: rest.addressless }),
    ...(rest.oddYears !== null && { oddYears: rest.oddYears }),
    ...(rest.calendars.length > 0 && { calendars: rest.calendars.map(calendarJson) }),
    digests: digests.map(({ id, recipient, localDate: date, sendAt, state, note, updatedAt }) =>
      inJson({ id: String(id), recipient, date, sendAt, state, note, updatedAt }),
    ),
  };
}

function reminderJson(item: Item): object {
  const { id, leadId, company, dueAt, sendAt, recipient, state, attempts, note, updatedAt } = item;
  const before = mailName(item);
  const who = { id: String(id), leadId, company, dueAt, before };
  return inJson({ ...who, sendAt, recipient, state, attempts, note, updatedAt });
}

function calendarJson({ reported, ...calendar }: Calendar): object {
  return { ...inJson(calendar), reported: reported.map(inJson) };
}

/** What ends with `At` is epoch ms, and in JSON a text. */
function inJson(item: object): object {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]: [string, unknown]) => [
      key,
      key.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value,
    ]),
  );
}

function describe(mails: Mails): string {
  const { listed, digests, timeZone } = mails;
  const time = (at: number): string => shownTime(at, timeZone);
  const dueTime = (at: number): string =>
    dayOf(at, mails.dayZone) === null ? time(at) : localTime(at, mails.dayZone).day;
  const line = (list: ListName, item: Item): string => {
    const what = `${time(list === 'coming' ? item.sendAt : item.updatedAt)}  ${about(item, dueTime)}`;
    if (list === 'coming') return what + tried(item);
    return list === 'sent' || list === 'skipped' ? what : `${what}\n      ${item.note}`;
  };
  return [
    `${mails.connection} (times in ${timeZone})`,
    ...(mails.addressless === null ? [] : [`  ! ${describeAddressless(mails.addressless)}`]),
    ...(mails.oddYears === null ? [] : [`  ! ${describeOddYears(mails.oddYears)}`]),
    ...[...listed].flatMap(([list, items]) =>
      list === 'skipped' && items.length === 0
        ? []
        : section(
            titleOf(list, items.length, mails.comingCount),
            items.map((item) => line(list, item)),
          ),
    ),
    ...section(
      'digests, the latest first',
      digests.map(
        ({ sendAt, recipient, state, note }) =>
          `${time(sendAt)}  ${recipient}  ${state}${state === 'failed' || state === 'missed' ? `: ${note}` : ''}`,
      ),
    ),
    ...(mails.calendars.length === 0
      ? []
      : section('calendars', describeCalendars(mails.calendars, time, dueTime))),
  ].join('\n');
}

function titleOf(list: ListName, shownCount: number, comingCount: number): string {
  if (list === 'coming')
    return `coming: ${comingCount}${comingCount > shownCount ? `, the next ${shownCount}` : ''}`;
  return list === 'skipped'
    ? 'not sent, because the digest of the same minute says the same; the latest first'
    : `${list}, the latest first`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [`  ${title}`, ...(lines.length === 0 ? ['    none'] : lines.map((line) => `    ${line}`))];
}

function about(
  { company, leadId, recipient, dueAt, kind, offsetText }: Item,
  dueTime: (at: number) => string,
): string {
  const what = { reminder: beforeWords(offsetText), moved: 'entry moved', cancel: 'entry cancelled' };
  return `${shownCompany(company) ?? `lead ${leadId}`}, due ${dueTime(dueAt)}, ${what[kind]}, to ${recipient}`;
}

function tried({ state, attempts, note }: Item): string {
  if (state === 'sending') return '\n      being sent; if interrupted, it is sent once more';
  return attempts > 0 && note !== null ? `\n      tried ${counted(attempts, 'time')}: ${note}` : '';
}

function shownTime(at: number, timeZone: string): string {
  const { day, time } = localTime(Math.floor(at), timeZone);
  return `${day} ${time}`;
}

type Calendar = Awaited<ReturnType<typeof calendarsOf>>[number];

async function calendarsOf({ pool, connection: { name, reminders } }: Scope) {
  const configured = new Set((reminders?.calendars ?? []).map(({ recipient }) => recipient));
  const reports = configured.size === 0 ? [] : await reportCalendars(pool, name, shown);
  const ours = reports.filter(({ recipient }) => configured.has(recipient));
  return Promise.all(
    ours.map(async (one) => ({ ...one, reported: await withCompanies(pool, name, one.reported) })),
  );
}

/** Epoch ms; `dueTime` shows a follow-up, which may be a day. */
function describeCalendars(
  calendars: readonly Calendar[],
  time: (at: number) => string,
  dueTime: (at: number) => string,
): readonly string[] {
  return calendars.flatMap(({ recipient, code, note, seenAt, entries, reported }) => {
    const read = seenAt === null ? 'not read yet' : `read ${time(seenAt)}`;
    const state = code === null ? `${counted(entries, 'entry', 'entries')}, ${read}` : `${note} [${code}]`;
    const lines = reported.map((entry) => {
      const due = entry.dueAt === null ? 'no longer due' : `due ${dueTime(entry.dueAt)}`;
      return `  ${shownCompany(entry.company) ?? 'a lead'}, ${due}: ${reportOf(entry)}  ${entry.leadId}`;
    });
    return [`${recipient}: ${state}`, ...lines];
  });
}

const unclear: Readonly<Record<string, string>> = {
  repeats: 'it was made a series there; leadsync leaves it alone',
  zone: 'its date there has a time zone that leadsync does not know; leadsync leaves it alone',
  floating: 'its date there has no time zone; leadsync leaves it alone',
  'no-date': 'it has no date there; leadsync leaves it alone',
  unreadable: 'the calendar shows something that is no entry, or no date; leadsync leaves it alone',
};

function reportOf({ ended, why, note }: ReportedEntry): string {
  if (ended === 'deleted')
    return 'the entry was deleted there; the follow-up stands, and the entry comes back with its next date';
  if (ended === 'completed') return 'the entry was completed or cancelled there; the follow-up stands';
  return (why === null ? note : unclear[why]) ?? '';
}

/** The list; with `newFeed` this recipient's address is another one first. Throws `usage.no-feeds` and `usage.unknown-recipient`. */
async function calendarFeeds(
  pool: pg.Pool,
  config: Config,
  newFeed: string | undefined,
  asJson: boolean,
): Promise<void> {
  const connections = connectionsWithFeed(config);
  if (connections.length === 0) {
    throw new LeadsyncError('usage.no-feeds', 'no connection has reminders', {
      help: 'Set reminders of a connection in leadsync.yaml.',
    });
  }
  const configured = connections.flatMap(({ reminders: { rules } }) =>
    [rules, ...rules.routes].flatMap(({ to }) => to.map(addressKey)),
  );
  const planned = await feedRecipients(
    pool,
    connections.map(({ name }) => name),
  );
  const recipients = [...new Set([...configured, ...planned])].filter(isEmailAddress).toSorted();
  const chosen = newFeed === undefined ? undefined : addressKey(newFeed);
  if (chosen !== undefined) {
    if (!recipients.includes(chosen)) {
      throw new LeadsyncError('usage.unknown-recipient', `${newFeed} is no recipient of reminders`, {
        help: 'leadsync status --feeds lists them.',
      });
    }
    await replaceFeedToken(pool, chosen);
  }
  await beginFeeds(pool, recipients);
  const tokens = await feedTokens(pool, recipients);
  const feeds = recipients
    .filter((recipient) => chosen === undefined || recipient === chosen)
    .map((recipient) => {
      const path = feedPath(tokens.get(recipient) ?? '');
      return { recipient, path, url: config.publicUrl === undefined ? null : `${config.publicUrl}${path}` };
    });
  if (asJson) return printJson({ feeds });
  print(
    [
      ...(chosen === undefined
        ? []
        : [`The former address of ${chosen} leads nowhere any more. The new one:`]),
      ...feeds.map(({ recipient, url, path }) => `${recipient}  ${url ?? path}`),
      'Anyone with an address can read its feed: give each to its person alone.',
      ...(config.publicUrl === undefined
        ? ["! publicUrl is not set: put the address under which people reach the worker's HTTP port in front"]
        : []),
    ].join('\n'),
  );
}
