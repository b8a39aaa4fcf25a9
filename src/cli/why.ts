import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import { columnsOf, type FieldMapping } from '../core/lead/mapping.ts';
import { type Cell, plainCell, type Value } from '../core/lead/value.ts';
import { type Conflict, listConflicts } from '../store/conflicts.ts';
import {
  type Deletion,
  deletionsOf,
  type FieldWrite,
  type Joined,
  joinsOf,
  writesOf,
} from '../store/history.ts';
import { type Decision, listDecisions } from '../store/decisions.ts';
import { openEdits, type RequestedEdit } from '../store/requested-edits.ts';
import { firstRunAt, type LeadRecord, leadRecord } from '../store/lead-record.ts';
import { describeStory } from './describe-story.ts';
import { type FoundLead, findLead } from './find-lead.ts';
import type { CommonOptions } from './program.ts';
import { short } from './names.ts';
import { print, printEachJson } from './output.ts';
import { withStore } from './with-store.ts';

export interface FieldStory {
  readonly field: string;
  /** Null: not mapped any more. */
  readonly column: string | null;
  /** What both sides last agreed on; absent when they were never in step. */
  readonly base?: Value;
  /** By a sync, and what people requested; several may have requested different values. */
  readonly held: readonly Conflict[];
  /** Requested and not carried out yet. */
  readonly openEdits: readonly RequestedEdit[];
  /** Newest first. */
  readonly history: readonly FieldWrite[];
  /** What people chose while it was held, newest first. */
  readonly decisions: readonly Decision[];
}

export interface LeadStory {
  readonly connection: string;
  readonly leadId: string;
  readonly company: string | null;
  readonly record: LeadRecord | null;
  readonly deletions: readonly Deletion[];
  readonly joins: readonly Joined[];
  /** What people decided on the record as a whole, or on a match of it, newest first. */
  readonly decisions: readonly Decision[];
  /** What is held of the record as a whole. */
  readonly held: readonly Conflict[];
  readonly fields: readonly FieldStory[];
  readonly mappings: readonly FieldMapping[];
  readonly retentionDays: number;
  /** IANA zone in which people see dates. */
  readonly timeZone: string;
  /** ISO instant from which on the history is kept; null when nothing has run so far. */
  readonly since: string | null;
}

export function why(lead: string, field: string | undefined, options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const found = await findLead(pool, connections, lead);
    const stories = await Promise.all(found.map((one) => storyOf(pool, one)));
    const shown = field === undefined ? stories : onlyField(stories, field);
    if (options.json) return printEachJson('leads', shown.map(json));
    print(shown.map(describeStory).join('\n\n'));
  });
}

async function storyOf(pool: pg.Pool, { connection, leadId }: FoundLead): Promise<LeadStory> {
  const { name, retentionDays, timeZone } = connection;
  const record = await leadRecord(pool, name, leadId);
  const writes = await writesOf(pool, name, leadId);
  const held = (await listConflicts(pool, name)).filter((item) => item.leadId === leadId);
  const decisions = await listDecisions(pool, name, leadId, null);
  const edits = (await openEdits(pool, name)).filter((edit) => edit.leadId === leadId);
  const firstRun = await firstRunAt(pool, name);
  const kept = new Date(Date.now() - retentionDays * 24 * 3_600_000).toISOString();
  const columns = columnsOf(connection.fields);
  const fields = new Set([
    ...columns.keys(),
    ...Object.keys(record?.base ?? {}),
    ...writes.map(({ field }) => field),
    ...decisions.flatMap(({ field }) => (field === '' ? [] : [field])),
  ]);
  return {
    connection: name,
    leadId,
    company: companyOf(record, writes),
    record,
    deletions: await deletionsOf(pool, name, leadId),
    joins: await joinsOf(pool, name, leadId),
    decisions: decisions.filter(({ field }) => field === ''),
    held: held.filter(({ field }) => field === ''),
    fields: [...fields].map((field) => {
      const base = record?.base?.[field];
      return {
        field,
        column: columns.get(field) ?? null,
        ...(base !== undefined && { base }),
        held: held.filter((item) => item.field === field),
        openEdits: edits.filter((edit) => edit.field === field),
        history: writes.filter((write) => write.field === field),
        decisions: decisions.filter((decision) => decision.field === field),
      };
    }),
    mappings: connection.fields,
    retentionDays,
    timeZone,
    since: firstRun === null || firstRun > kept ? firstRun : kept,
  };
}

function companyOf(record: LeadRecord | null, writes: readonly FieldWrite[]): string | null {
  const cell = writes.find(({ field }) => field === 'companyName')?.written ?? null;
  return record?.base?.['companyName'] ?? plainCell(cell);
}

/** Named as in the service or by its heading. */
function onlyField(stories: readonly LeadStory[], name: string): readonly LeadStory[] {
  const named = stories.flatMap((story) => {
    const found =
      story.fields.find(({ field }) => field === name) ?? story.fields.find(({ column }) => column === name);
    return found === undefined ? [] : [{ ...story, fields: [found] }];
  });
  if (named.length > 0) return named;
  const known = [...new Set(stories.flatMap(({ fields }) => fields.map(({ field }) => field)))];
  throw new LeadsyncError('usage.unknown-field', `there is no field ${short(name)}`, {
    help: `Fields are: ${known.join(', ')}. leadsync why ${stories[0]?.leadId ?? 'LEAD'} shows all of them.`,
  });
}

function json(story: LeadStory): object {
  const { record, fields } = story;
  return {
    leadId: story.leadId,
    connection: story.connection,
    ...(story.company !== null && { company: story.company }),
    knownSince: record?.firstSeenAt ?? null,
    deletedAt: record?.deletedAt ?? null,
    ...(record?.outsideSince && { outsideSince: record.outsideSince }),
    historySince: story.since,
    deletions: story.deletions.map(({ run, ...deletion }) => ({ run: String(run), ...deletion })),
    ...(story.joins.length > 0 && {
      matched: story.joins.map(({ run, ...join }) => ({ run: String(run), ...join })),
    }),
    ...(story.decisions.length > 0 && {
      decisions: story.decisions.map(({ at, by, choice }) => ({ at, by, choice })),
    }),
    held: story.held.map(({ id, code, message, since }) => ({ id: String(id), code, message, since })),
    fields: Object.fromEntries(
      fields.map(({ field, base, held, openEdits: open, history, decisions }) => [
        field,
        {
          base,
          held: bySync(held).map(conflictJson)[0] ?? null,
          ...(held.some(isEdit) && { heldEdits: held.filter(isEdit).map(conflictJson) }),
          ...(open.length > 0 && { openEdits: open.map(editJson) }),
          history: history.map(writeJson),
          ...(decisions.length > 0 && { decisions: decisions.map(decisionJson) }),
        },
      ]),
    ),
  };
}

function bySync(held: readonly Conflict[]): readonly Conflict[] {
  return held.filter((item) => !isEdit(item));
}

function isEdit({ kind }: Conflict): boolean {
  return kind === 'edit';
}

function editJson({ id, requestedBy, requestedAt, source, from, to, note }: RequestedEdit): object {
  return { id: String(id), by: requestedBy, at: requestedAt, source, from, to, note };
}

function conflictJson({ id, code, message, lead, rowValue, resolution, since, author }: Conflict): object {
  const shown = { lead: plain(lead), row: plain(rowValue), resolution, since };
  return { id: String(id), code, message, ...shown, ...(author !== null && { changedBy: author }) };
}

function writeJson({ run, at, rule, side, base, lead, row, written, author, requested }: FieldWrite): object {
  const values = { base, lead: plain(lead), row: plain(row), written: plain(written) };
  return {
    run: String(run),
    at,
    rule,
    side,
    ...values,
    ...(author !== null && { changedBy: author }),
    ...(requested && { requested }),
  };
}

function decisionJson({ at, by, choice, lead, row }: Decision): object {
  return { at, by, choice, lead: plain(lead), row: plain(row) };
}

/** What is not on record stays out of the object. */
function plain(cell: Cell | undefined): Value | undefined {
  return cell === undefined ? undefined : plainCell(cell);
}
