import type { Telling } from '../store/tellings.ts';
import { heldThreshold } from './problems-of.ts';

/** What is told of a problem, in plain sentences. */
export interface AlertText {
  /** One line. */
  readonly title: string;
  /** What happened, and what was not touched. */
  readonly lines: readonly string[];
  /** Commands that help, and what each does. */
  readonly help: readonly (readonly [string, string])[];
}

export type Told = Pick<Telling, 'event' | 'connection' | 'kind' | 'detail' | 'raisedAt' | 'clearedAt'>;

/** Holds codes, counts and moments alone: nothing that came from a service, a sheet or a lead. Times are UTC. Pure. */
export function describeAlert(told: Told): AlertText {
  const { title, lines, help } = describeProblem(told);
  const { connection, event, raisedAt, clearedAt } = told;
  // A heartbeat may be that of all connections.
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

function describeProblem({ connection, kind, event, detail, raisedAt }: Told): AlertText {
  const { code = 'internal', runId = 0, count = 0, missed = 0, late = 0, since = null } = detail;
  const command = (name: string, more = ''): string => `leadsync ${name} --connection ${connection}${more}`;
  switch (kind) {
    case 'run-failed':
      return {
        title: 'the sync failed',
        lines: [
          `Run ${runId} ended with ${code}.`,
          'What it had written before is written down; it touched nothing else. The schedule goes on.',
        ],
        help: [
          [command('status'), 'shows why'],
          [command('sync'), 'tries again now'],
        ],
      };
    case 'guard-stop': {
      const refusal = code.startsWith('guard.') ? code.slice('guard.'.length) : '';
      return {
        title: 'a sync was stopped by the guard',
        lines: [
          `Run ${runId} was stopped: ${code}.`,
          'Nothing of what it refused was written. A person has to decide.',
        ],
        help: [
          [command('status'), 'shows why'],
          [command('plan'), 'shows what would be written'],
          ...optionsFor(refusal).map(([option, does]) => [command('sync', ` ${option}`), does] as const),
        ],
      };
    }
    case 'key-rejected':
      return {
        title: code.startsWith('leads.')
          ? 'the Leads service rejects the key'
          : 'the target rejects the credentials',
        lines: [
          `Run ${runId} ended with ${code}.`,
          'It ended at once and touched nothing more. The next one comes with the schedule.',
        ],
        help: [[command('check'), 'tries the credentials; set new ones and start the worker again']],
      };
    case 'held-growing':
      return {
        title: `${count} items are held`,
        lines: [
          event === 'grown'
            ? 'They are at least twice as many as when it was told last.'
            : `It is told from ${heldThreshold} on, and again each time they have doubled.`,
          'They stay as they are on both sides until somebody decides; everything else is synced.',
        ],
        help: [
          [command('conflicts'), 'lists them'],
          ['leadsync resolve ID --use lead', 'decides one; or --use target'],
        ],
      };
    case 'reminders-failing':
      return {
        title: 'reminders fail',
        lines: [
          `Reminders and digests of the last 24 hours: ${count} failed, ${missed} missed; ${late} late by more than an hour.`,
          'Those that are late are still tried until their time of grace is over. The sync is not concerned.',
        ],
        help: [
          [command('reminders'), 'lists them, and why'],
          [command('check'), 'tries the mail server'],
        ],
      };
    case 'no-success':
      return {
        title: 'no sync succeeds',
        lines: [
          since === null
            ? 'When it was told, none had succeeded so far, though one was due.'
            : `The last success was at ${momentText(since)}, ${durationText(raisedAt - since)} before this was seen, though one was due.`,
          'Nothing was touched. Does a worker run, and does its queue answer?',
        ],
        help: [
          [command('status'), 'shows what runs and waits'],
          [command('sync'), 'syncs now'],
        ],
      };
    case 'heartbeat-failing':
      return {
        title: 'the heartbeat address cannot be called',
        lines: [
          `Since ${momentText(since ?? raisedAt)} a success could not be told there.`,
          'The sync is not concerned, but whoever listens there may take it for dead.',
        ],
        help: [['leadsync check', 'shows what is set; alerts.heartbeat or ALERT_HEARTBEAT is the address']],
      };
    default:
      return kind satisfies never;
  }
}

/** The options of a sync that let it pass what the guard refused, and what they do. */
function optionsFor(refusal: string): readonly (readonly [string, string])[] {
  if (refusal === '' || refusal.startsWith('target.')) return [];
  const isOlder = refusal === 'older-copy' || refusal === 'older-service';
  return [
    ...(isOlder
      ? [['--older-copy update', 'brings what is older forward, where it may be written'] as const]
      : []),
    [`--allow ${refusal}`, 'carries it out all the same'],
  ];
}

/** `2026-11-21 14:30 UTC`. */
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
