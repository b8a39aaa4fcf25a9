import type pg from 'pg';
import type { ConnectionConfig, ReminderSettings } from '../config/config.ts';
import { recipientLanguage, recipientTimeZone } from '../config/recipients.ts';
import { dayOf } from '../core/lead/day.ts';
import { type Snooze, snoozed, snoozes, type SnoozeZones } from '../core/lead/snooze.ts';
import type { Value, Values } from '../core/lead/value.ts';
import type { FollowUpLink } from '../reminders/links/link-token.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import { isStageWanted, recipientsOf } from '../reminders/plan/recipients.ts';
import { presentFollowUp } from '../store/follow-ups.ts';
import { lastEditOf, type RequestedEdit } from '../store/requested-edits.ts';
import type { FollowUpPage } from './pages/follow-up.ts';
import { followUpWords, shownDue } from './pages/follow-up-words.ts';

/** A link that works: who moves which follow-up. */
export interface Opened {
  readonly link: FollowUpLink;
  readonly connection: ConnectionConfig;
  readonly settings: ReminderSettings;
}

/** In which zones the recipient of a link moves a date. */
export function zonesOf({ link, settings: { rules } }: Opened): SnoozeZones {
  return { timeZone: recipientTimeZone(rules, link.recipient), dayZone: rules.dayZone };
}

/** What the page behind a link shows now. `first`: the choice that goes before the others. `now`: epoch ms. */
export async function followUpState(
  pool: pg.Pool,
  opened: Opened,
  first: string,
  now: number,
): Promise<FollowUpPage> {
  const { link, connection, settings } = opened;
  const zones = zonesOf(opened);
  const words = followUpWords(recipientLanguage(settings, link.recipient));
  const shown = (at: number): string =>
    shownDue(at, dayOf(at, zones.dayZone), words.language, zones.timeZone);
  const present = await presentFollowUp(pool, connection.name, link.leadId, followUpField);
  const edit = await lastEditOf(pool, connection.name, link.leadId, followUpField);
  const cells = { ...present?.base, [followUpField]: present?.due ?? null };
  const isTheirs =
    isStageWanted(cells, settings.rules) && recipientsOf(cells, settings.rules).includes(link.recipient);
  const due = present?.due ?? null;
  const dueAt = due === null ? null : Date.parse(due);
  const isWritable = connection.fields.some(
    ({ field, direction }) => field === followUpField && direction === 'two-way',
  );
  const isOpen = edit?.state === 'open';
  const told = edit !== null && isToldBy(edit, link, due) ? edit : null;
  const canMove = isTheirs && isWritable && !isOpen && dueAt !== null;
  const labels = (by: Snooze, at: number): string => {
    const to = snoozed(at, by, zones, now);
    return words.choices[by](to === null ? '' : shown(to));
  };
  const order = snoozes.toSorted((a, b) => Number(b === first) - Number(a === first));
  const facts = [
    dueAt === null ? words.notDue : words.due(shown(dueAt)),
    dueAt !== link.dueAt && words.movedSince(shown(link.dueAt)),
    told !== null && told.requestedBy !== link.recipient && otherWords(told, words, zones.timeZone),
    !isTheirs && words.notYours,
    isTheirs && !isWritable && words.notAllowed,
  ];
  return {
    language: words.language,
    heading: present === null ? words.title : words.heading(companyOf(present.base, link.leadId)),
    notice: told?.requestedBy === link.recipient ? noticeOf(told, words, shown) : null,
    facts: present === null ? [words.gone] : facts.filter((fact) => fact !== false),
    choices: canMove ? order.map((by) => ({ by, label: labels(by, dueAt) })) : [],
    seen: due ?? '',
    waits: isOpen,
  };
}

/**
 * Whether the page of a link tells of the last edit: one for a former date, whose mail this is not, would be taken for what the
 * reader has done just now. Nor does it say that the follow-up was moved to a date at which it is not. `due`: the present one.
 */
function isToldBy({ state, from, to }: RequestedEdit, link: FollowUpLink, due: Value): boolean {
  if (state === 'open') return true;
  const mailed = new Date(link.dueAt).toISOString();
  const isAbout = from === mailed || due !== mailed;
  return isAbout && (to === due || (state !== 'applied' && state !== 'unchanged'));
}

function companyOf(base: Values | null, leadId: string): string {
  return base?.['companyName'] ?? leadId;
}

type Words = ReturnType<typeof followUpWords>;

function noticeOf(edit: RequestedEdit, words: Words, shown: (at: number) => string): FollowUpPage['notice'] {
  switch (edit.state) {
    case 'open':
      return { text: words.waits, look: 'info' };
    case 'applied':
    case 'unchanged':
      return { text: edit.to === null ? words.done : words.moved(shown(Date.parse(edit.to))), look: 'good' };
    case 'conflict':
      return { text: words.conflict, look: 'warn' };
    case 'failed':
      return { text: words.failed, look: 'warn' };
    default:
      return null;
  }
}

function otherWords(edit: RequestedEdit, words: Words, timeZone: string): string | false {
  if (edit.state === 'open') return words.otherWaits(edit.requestedBy);
  if (edit.state !== 'applied') return false;
  return words.otherMoved(
    edit.requestedBy,
    shownDue(Date.parse(edit.settledAt ?? edit.requestedAt), null, words.language, timeZone),
  );
}
