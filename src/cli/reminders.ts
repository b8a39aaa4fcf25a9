import { counted } from '../core/lead/counted.ts';
import { dayOf } from '../core/lead/day.ts';
import { localTime } from '../reminders/plan/local-time.ts';
import {
  comingReminders,
  type Digest,
  listDigests,
  listReminders,
  mailName,
  type Reminder,
} from '../store/mails.ts';
import type { SyncContext } from '../sync/context.ts';
import { calendarFeeds } from './calendar-feeds.ts';
import { answerCalendar, calendarJson, calendarsOf, describeCalendars } from './calendars.ts';
import type { CommonOptions } from './program.ts';
import { type Addressless, addressless, describeAddressless } from './addressless.ts';
import { companiesIn, shownCompany } from './names.ts';
import { print, printJson } from './output.ts';
import { previewReminder } from './preview-reminder.ts';
import { sendTestMail } from './send-test-mail.ts';
import { withApp } from './with-app.ts';

interface RemindersOptions extends CommonOptions {
  readonly preview?: string;
  readonly sendTest?: string;
  readonly cancelled?: boolean;
  readonly feeds?: boolean;
  readonly newFeed?: string;
  readonly putBack?: string;
  readonly acceptDeleted?: string;
}

/** Maximum listed of each kind. */
const shown = 20;

type Item = Reminder & { readonly company: string | null };

interface Mails {
  readonly connection: string;
  readonly timeZone: string;
  /** In which a due moment may be a day. */
  readonly dayZone: string;
  readonly comingCount: number;
  readonly coming: readonly Item[];
  readonly sent: readonly Item[];
  readonly failed: readonly Item[];
  readonly missed: readonly Item[];
  /** Left to a digest of the same minute. */
  readonly skipped: readonly Item[];
  /** Null: not requested. */
  readonly cancelled: readonly Item[] | null;
  readonly addressless: Addressless | null;
  readonly digests: readonly Digest[];
  readonly calendars: Awaited<ReturnType<typeof calendarsOf>>;
}

/** `leadsync reminders`: lists upcoming, sent and failed ones; or previews a mail, or sends a sample. */
export function reminders(options: RemindersOptions): Promise<void> {
  return withApp(options, async (app) => {
    const { feeds = false, newFeed, putBack, acceptDeleted, json: asJson = false } = options;
    if (feeds || newFeed !== undefined) return calendarFeeds(app.pool, app.config, { newFeed, json: asJson });
    if (options.sendTest !== undefined) return sendTestMail(app, options.sendTest, options.json ?? false);
    if (options.preview !== undefined) return previewReminder(app, options.preview, options.json ?? false);
    if (putBack !== undefined) return answerCalendar(app, putBack, 'put-back', asJson);
    if (acceptDeleted !== undefined) return answerCalendar(app, acceptDeleted, 'accept', asJson);
    const all = await Promise.all(
      [...app.contexts.values()].map((context) => mailsOf(context, options.cancelled ?? false)),
    );
    if (options.json) return printJson({ connections: all.map(json) });
    print(all.map(describe).join('\n\n'));
  });
}

async function mailsOf(context: SyncContext, withCancelled: boolean): Promise<Mails> {
  const { pool, connection } = context;
  const { name } = connection;
  const list = (...states: Parameters<typeof listReminders>[2]) => listReminders(pool, name, states, shown);
  const [coming, sent, failed, missed, skipped, cancelled] = await Promise.all([
    list('scheduled', 'sending'),
    list('sent'),
    list('failed'),
    list('missed'),
    list('skipped'),
    withCancelled ? list('cancelled') : [],
  ]);
  const companies = await companiesIn(pool, name, [
    ...coming,
    ...sent,
    ...failed,
    ...missed,
    ...skipped,
    ...cancelled,
  ]);
  const named = (items: readonly Reminder[]): readonly Item[] =>
    items.map((item) => ({ ...item, company: companies.get(item.leadId) ?? null }));
  const { count } = await comingReminders(pool, name, 1);
  return {
    connection: name,
    timeZone: connection.reminders?.rules.timeZone ?? 'UTC',
    dayZone: connection.reminders?.rules.dayZone ?? 'UTC',
    comingCount: Math.max(count, coming.length),
    coming: named(coming),
    sent: named(sent),
    failed: named(failed),
    missed: named(missed),
    skipped: named(skipped),
    cancelled: withCancelled ? named(cancelled) : null,
    addressless: await addressless(context),
    digests: await listDigests(pool, name, shown),
    calendars: await calendarsOf(context),
  };
}

function json({ connection, comingCount, coming, sent, failed, cancelled, digests, ...rest }: Mails): object {
  return {
    connection,
    comingCount,
    coming: coming.map(reminderJson),
    sent: sent.map(reminderJson),
    failed: failed.map(reminderJson),
    missed: rest.missed.map(reminderJson),
    skipped: rest.skipped.map(reminderJson),
    ...(cancelled !== null && { cancelled: cancelled.map(reminderJson) }),
    ...(rest.addressless !== null && { withoutAddress: rest.addressless }),
    ...(rest.calendars.length > 0 && { calendars: rest.calendars.map(calendarJson) }),
    digests: digests.map(({ id, recipient, localDate, sendAt, state, note, updatedAt }) => ({
      id: String(id),
      recipient,
      date: localDate,
      sendAt: iso(sendAt),
      state,
      note,
      updatedAt: iso(updatedAt),
    })),
  };
}

function reminderJson(item: Item): object {
  const { id, leadId, company, recipient, state, attempts, note } = item;
  return {
    id: String(id),
    leadId,
    company,
    dueAt: iso(item.dueAt),
    before: mailName(item),
    sendAt: iso(item.sendAt),
    recipient,
    state,
    attempts,
    note,
    updatedAt: iso(item.updatedAt),
  };
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function describe(mails: Mails): string {
  const { coming, sent, failed, cancelled, digests, comingCount, timeZone } = mails;
  const time = (at: number): string => shownTime(at, timeZone);
  const dueTime = (at: number): string =>
    dayOf(at, mails.dayZone) === null ? time(at) : localTime(at, mails.dayZone).day;
  const more = comingCount > coming.length ? `, the next ${coming.length}` : '';
  return [
    `${mails.connection} (times in ${timeZone})`,
    ...(mails.addressless === null ? [] : [`  ! ${describeAddressless(mails.addressless)}`]),
    ...section(
      `coming: ${comingCount}${more}`,
      coming.map((item) => `${time(item.sendAt)}  ${about(item, dueTime)}${tried(item)}`),
    ),
    ...section(
      'sent, the latest first',
      sent.map((item) => `${time(item.updatedAt)}  ${about(item, dueTime)}`),
    ),
    ...section(
      'failed, the latest first',
      failed.map((item) => `${time(item.updatedAt)}  ${about(item, dueTime)}\n      ${item.note}`),
    ),
    ...section(
      'missed, the latest first',
      mails.missed.map((item) => `${time(item.updatedAt)}  ${about(item, dueTime)}\n      ${item.note}`),
    ),
    ...(mails.skipped.length === 0
      ? []
      : section(
          'not sent, because the digest of the same minute says the same; the latest first',
          mails.skipped.map((item) => `${time(item.updatedAt)}  ${about(item, dueTime)}`),
        )),
    ...(cancelled === null
      ? []
      : section(
          'cancelled, the latest first',
          cancelled.map((item) => `${time(item.updatedAt)}  ${about(item, dueTime)}\n      ${item.note}`),
        )),
    ...section(
      'digests, the latest first',
      digests.map(
        ({ sendAt, recipient, state, note }) =>
          `${time(sendAt)}  ${recipient}  ${state}${state === 'failed' || state === 'missed' ? `: ${note}` : ''}`,
      ),
    ),
    ...(mails.calendars.length === 0 ? [] : section('calendars', describeCalendars(mails.calendars, time))),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [`  ${title}`, ...(lines.length === 0 ? ['    none'] : lines.map((line) => `    ${line}`))];
}

function about(
  { company, leadId, recipient, dueAt, kind, offsetText }: Item,
  dueTime: (at: number) => string,
): string {
  const what = { reminder: `${offsetText} before`, moved: 'entry moved', cancel: 'entry cancelled' };
  return `${shownCompany(company) ?? 'a lead'}, due ${dueTime(dueAt)}, ${what[kind]}, to ${recipient}  ${leadId}`;
}

function tried({ state, attempts, note }: Item): string {
  if (state === 'sending') return '\n      being sent; if interrupted, it is sent once more';
  return attempts > 0 && note !== null ? `\n      tried ${counted(attempts, 'time')}: ${note}` : '';
}

function shownTime(at: number, timeZone: string): string {
  const { day, time } = localTime(Math.floor(at), timeZone);
  return `${day} ${time}`;
}
