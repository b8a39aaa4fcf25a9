import type { Composed } from '../reminders/compose/compose-reminder.ts';
import { escaped, oneLine } from '../reminders/compose/shown-text.ts';
import type { AlertDelivery } from '../store/alerts.ts';
import { heldThreshold } from './problems-of.ts';

export interface AlertText {
  readonly title: string;
  readonly lines: readonly string[];
  readonly help: readonly (readonly [string, string])[];
}

export type AlertEvent = Pick<
  AlertDelivery,
  'event' | 'connection' | 'kind' | 'detail' | 'raisedAt' | 'clearedAt'
>;

/** Holds codes, counts and moments alone: nothing that came from a service, a sheet or a lead. Times are UTC. Pure. */
export function describeAlert(alert: AlertEvent): AlertText {
  const { title, lines, help } = describeProblem(alert);
  const { connection, event, raisedAt, clearedAt } = alert;
  // All connections may share one heartbeat.
  const where = connection === '' ? '' : `${connection}: `;
  if (event !== 'over') return { title: `${where}${title}`, lines, help };
  const until = clearedAt ?? raisedAt;
  return {
    title: `${where}over: ${title}`,
    lines: [
      `It lasted ${durationText(until - raisedAt)}, from ${momentText(raisedAt)} to ${momentText(until)}.`,
    ],
    help: [],
  };
}

function describeProblem({ connection, kind, event, detail, raisedAt }: AlertEvent): AlertText {
  const { code = 'internal', runId = 0, count = 0, missed = 0, late = 0, since = null } = detail;
  const command = (name: string, does: string) =>
    [`leadsync ${name} --connection ${connection}`, does] as const;
  switch (kind) {
    case 'run-failed':
      return alertText(
        'the sync failed',
        `Run ${runId} ended with ${code}.`,
        'What it wrote before is recorded; it touched nothing else. The schedule goes on.',
        command('status', 'shows why'),
        command('sync', 'runs it again now'),
      );
    case 'guard-stop':
      return alertText(
        'a sync was stopped by the guard',
        `Run ${runId} was stopped: ${code}.`,
        'The guard wrote nothing of what it refused. A person has to decide.',
        command('status', 'shows why'),
        command('plan', 'shows what would be written'),
        ...optionsFor(code).map(([option, does]) => {
          const [sync] = command('sync', does);
          return [`${sync} ${option}`, does] as const;
        }),
      );
    case 'key-rejected':
      return alertText(
        code.startsWith('leads.')
          ? 'the Leads service rejects the key'
          : 'the target rejects the credentials',
        `Run ${runId} ended with ${code}.`,
        'The run ended at once and touched nothing more. The next one follows the schedule.',
        command('check', 'tries the credentials; set new ones and start the worker again'),
      );
    case 'held-growing':
      return alertText(
        count < heldThreshold ? 'an item has been held for a day' : `${count} items are held`,
        event === 'grown'
          ? 'There are many more of them than at the last alert.'
          : `This alert comes when an item has waited for a day, at ${heldThreshold} items, and again each time their number doubles.`,
        'What is held stays as it is on both sides until a person decides; everything else is synced.',
        command('conflicts', 'lists them'),
        ['leadsync resolve ID --use lead', 'decides one; or --use row'],
      );
    case 'reminders-failing':
      return alertText(
        'reminders fail',
        `Reminders and digests of the last 24 hours: ${count} failed, ${missed} missed; ${late} late by more than an hour.`,
        'leadsync still sends what is late by less than 24 hours. The sync is not affected.',
        command('status --reminders', 'lists them, and why'),
        command('check', 'tries the mail server'),
      );
    case 'no-success':
      return alertText(
        'no sync succeeds',
        since === null
          ? 'No sync had succeeded so far, though one was due.'
          : `The last success was at ${momentText(since)}, ${durationText(raisedAt - since)} before this was noticed, though one was due.`,
        'Nothing was touched. Does a worker run, and does its queue answer?',
        command('status', 'shows what runs and waits'),
        command('sync', 'syncs now'),
      );
    case 'heartbeat-failing':
      return alertText(
        'the heartbeat address cannot be called',
        `No success has reached it since ${momentText(since ?? raisedAt)}.`,
        'The sync is not affected, but the monitor behind the address may report it as dead.',
        ['leadsync check', 'shows what is set; alerts.heartbeat or ALERT_HEARTBEAT is the address'],
      );
    default:
      return kind satisfies never;
  }
}

function alertText(
  title: string,
  happened: string,
  untouched: string,
  ...help: AlertText['help']
): AlertText {
  return { title, lines: [happened, untouched], help };
}

/** Options that let the guard pass what it refused, and what each does. */
function optionsFor(code: string): readonly (readonly [string, string])[] {
  const refusal = /^guard\.(?!target\.)(.+)/.exec(code)?.[1];
  if (refusal === undefined) return [];
  const allow = [`--allow ${refusal}`, 'carries it out all the same'] as const;
  return refusal.startsWith('older-')
    ? [['--older-copy update', 'brings what is older forward, where it may be written'], allow]
    : [allow];
}

function momentText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** The two largest units that say anything, such as `1 day 2 hours`. */
export function durationText(ms: number): string {
  let rest = Math.max(0, ms);
  const parts = units.flatMap(([name, unit]) => {
    const amount = Math.floor(rest / unit);
    rest -= amount * unit;
    return amount === 0 ? [] : [`${amount} ${name}${amount === 1 ? '' : 's'}`];
  });
  return parts.length === 0 ? 'less than a minute' : parts.slice(0, 2).join(' ');
}

/** In the form that Slack takes. */
export function alertPayload(text: AlertText): { readonly text: string } {
  return { text: plainText(text) };
}

/** `message` is a fault's own words, which only this mail has. */
export function alertMail(text: AlertText, message: string | null): Composed {
  const reason = message === null ? '' : withoutAddresses(oneLine(message, 500));
  const shown = reason === '' ? text : { ...text, lines: [...text.lines, `Reason: ${reason}`] };
  const help = shown.help.map(
    ([command, does]) => `<li><code>${escaped(command)}</code><br>${escaped(does)}</li>`,
  );
  return {
    subject: oneLine(`leadsync: ${text.title}`, 149),
    text: `${plainText(shown)}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px">',
      `<h1 style="font-size:20px;line-height:26px">leadsync: ${escaped(shown.title)}</h1>`,
      ...shown.lines.map((line) => `<p>${escaped(line)}</p>`),
      ...(help.length === 0 ? [] : ['<ul>', ...help, '</ul>']),
      '</body></html>',
    ].join('\n'),
  };
}

function plainText({ title, lines, help }: AlertText): string {
  const commands = help.map(([command, does]) => `  ${command}  (${does})`);
  return [`leadsync: ${title}`, ...lines, ...commands].join('\n');
}

/** A fault may quote a service, and that a lead's address. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+/g, '(address)');
}
