import { noMatches } from '../../src/core/merge/match-likeness.ts';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells } from '../../src/core/lead/value.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import { type AbsenceProof, type LooseRow, LooseRows, type Sight } from '../../src/core/merge/difference.ts';
import { foundRows, goneLead, looseStray, orphanRow, renamedLead } from '../../src/core/merge/lost-rows.ts';
import type { FieldMemo } from '../../src/core/merge/merge-field.ts';
import { OlderCopies } from '../../src/core/merge/older-copy.ts';
import { sameRecord } from '../../src/core/merge/plan.ts';
import { Planner } from '../../src/core/merge/planner.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { RefusedCreates, sentContent, sentKey } from '../../src/core/merge/refused-create.ts';
import { settleCreates, type SettledCreates } from '../../src/core/merge/settle-creates.ts';
import { type UndoneRecord, UndoneRecords } from '../../src/core/merge/undo.ts';
import { matchCreates, runSteps } from '../support/run-steps.ts';
import { type Pair, type Row, type RunState, scanStartedAt } from './whole-run.ts';

/** A plan of a whole run, and what it saw. */
export interface Planned {
  readonly actions: readonly PlannedAction[];
  /** Leads as seen: those of the list, and those that were asked for by id. */
  readonly seen: ReadonlyMap<string, Cells>;
  /** Leads that a create made, as its reply said, and that the list lacks. */
  readonly made: ReadonlyMap<string, Cells>;
  /** The first row of each id. */
  readonly rowOf: ReadonlyMap<string, Row>;
  /** Rows without an id, and further rows of one. */
  readonly loose: readonly Row[];
  /** The leads of creates that are not settled; null: not found. */
  readonly open: readonly (string | null)[];
  /** Complete scans that lacked the lead, this one included. */
  readonly leadAbsences: (leadId: string) => number;
}

const unknown: Pair = {
  base: null,
  leadAbsences: 0,
  rowAbsences: 0,
  deletionDone: false,
  place: 0,
  memo: {},
  merged: null,
  undone: null,
};

/** A run's plan, as src/sync/make-plan.ts makes it from the database. */
export function planRun(state: RunState): Planned {
  const policy: Policy = {
    ...state.policy,
    fields: state.policy.fields.filter(({ field }) => !state.unseen.has(field)),
    unseen: state.policy.fields.filter(({ field }) => state.unseen.has(field)),
  };
  const { fields } = state.policy;
  const { rowOf, loose } = sortRows(state.rows);
  const seen = seenLeads(state, rowOf, policy);
  const isProof: AbsenceProof = {
    leads: state.weight === 1 && seen.size > 0,
    rows: state.rows.length > 0 && !state.isRowDoubted,
    answers: false,
    rowsAlone: true,
    at: 0,
    proveAfter: 0,
  };
  const { creates, open, made } = settled(state, policy, seen, rowOf, loose);
  const ids = new Set([...state.pairs.keys(), ...seen.keys(), ...rowOf.keys()]);
  const sights = [...ids].map((leadId) => sightOf(leadId, state, seen, rowOf));
  const looseRows = loose.map((row): LooseRow => ({ ...row, contentHash: hashContent(row.cells, fields) }));

  const isFree = ({ leadId }: Sight): boolean => !creates.leadIds.has(leadId);
  const gone = sights.filter(isFree).flatMap((sight) => goneLead(sight) ?? renamedLead(sight, fields) ?? []);
  const strays = [
    ...sights.flatMap((sight) => orphanRow(sight, fields, creates.rowless.length > 0)?.stray ?? []),
    ...looseRows.filter(({ leadId, row }) => leadId !== null || !creates.rows.has(row)).map(looseStray),
  ];
  const planner = new Planner({
    policy,
    creates,
    moved: state.moved,
    found: foundRows(strays, [...gone, ...creates.rowless], fields, policy, { fresh: 0, newOrphans: 0 }),
    older: new OlderCopies([], state.isRowDoubted ? ['row'] : [], []),
    isProof,
    matches: noMatches,
    undone: new UndoneRecords(undoneOf(state, seen), fields),
    refused: new RefusedCreates(
      new Map(
        loose.flatMap(({ cells, refused }) =>
          refused === null ? [] : [[sentKey(sentContent(cells, policy)), refused]],
        ),
      ),
    ),
    loose: new LooseRows(new Set(), new Set()),
    elsewhere: new Map(),
    homes: new Map(),
    unread: new Set(),
    first: null,
    names: null,
  });
  const actions: PlannedAction[] = [...creates.actions];
  for (const sight of sights) actions.push(...planner.pair(sight).actions);
  for (const row of looseRows) actions.push(...planner.row(row));
  actions.push(...planner.end());
  const leadAbsences = (leadId: string): number =>
    seen.has(leadId) ? 0 : (state.pairs.get(leadId)?.leadAbsences ?? 0) + Number(isProof.leads);
  return { actions, seen, made, rowOf, loose, open, leadAbsences };
}

/** What the scan staged of a lead id. */
function sightOf(
  leadId: string,
  { pairs }: RunState,
  seen: ReadonlyMap<string, Cells>,
  rowOf: ReadonlyMap<string, Row>,
): Sight {
  const { memo, place, undone: _, ...pair } = pairs.get(leadId) ?? unknown;
  const row = rowOf.get(leadId);
  const isPaused = row?.isPaused === true;
  const isKnown = pairs.has(leadId);
  const lead = isPaused ? null : (seen.get(leadId) ?? null);
  const cells = isPaused ? null : (row?.cells ?? null);
  const codeOf = ({ refused, putBack }: FieldMemo): string =>
    refused === true ? 'lead.field-refused' : putBack ? `${putBack}.put-back` : 'conflict.both-edited';
  const covered = { unreadable: '', why: 'merged' } as const;
  return {
    ...pair,
    leadId,
    isKnown,
    isSame: false,
    lead,
    row: cells,
    rowNumber: row?.row ?? place,
    missed: { lead: isKnown && !isPaused && lead === null, row: isKnown && !isPaused && cells === null },
    isCounted: false,
    absentSince: null,
    asked: { answer: 'gone', message: null },
    held: Object.entries(memo).map(([field, one]) => ({
      field,
      code: codeOf(one),
      resolution: one.resolution ?? null,
      lead: lead?.[field] ?? null,
      row: one.covered === true ? covered : (cells?.[field] ?? null),
    })),
    isCopied: false,
    isPaused,
  };
}

/** Leads whose row an undo took away, as they were then. */
function undoneOf({ pairs }: RunState, seen: ReadonlyMap<string, Cells>): readonly UndoneRecord[] {
  return [...pairs].flatMap(([leadId, { undone }]) => {
    const cells = seen.get(leadId);
    return undone === null || cells === undefined ? [] : [{ leadId, contentHash: undone, cells }];
  });
}

function sortRows(rows: readonly Row[]) {
  const rowOf = new Map<string, Row>();
  const loose: Row[] = [];
  for (const row of rows) {
    if (row.leadId === null || rowOf.has(row.leadId)) loose.push(row);
    else rowOf.set(row.leadId, row);
  }
  return { rowOf, loose };
}

/** What the list shows; a lead that it lacks is read by its id when its row differs. */
function seenLeads(state: RunState, rowOf: ReadonlyMap<string, Row>, policy: Policy): Map<string, Cells> {
  const seen = new Map([...state.leads].filter(([leadId]) => state.listed.has(leadId)));
  for (const [leadId, { cells, isPaused }] of rowOf) {
    if (isPaused) continue;
    const lead = state.leads.get(leadId);
    const base = state.pairs.get(leadId)?.base;
    if (lead !== undefined && (!base || !sameRecord(cells, base, policy))) seen.set(leadId, lead);
  }
  return seen;
}

/** What the scan says about unfinished creates, as src/sync/make-plan.ts asks for it. */
function settled(
  state: RunState,
  policy: Policy,
  seen: ReadonlyMap<string, Cells>,
  rowOf: ReadonlyMap<string, Row>,
  loose: readonly Row[],
): Pick<Planned, 'open' | 'made'> & { readonly creates: SettledCreates } {
  const strangers = [...seen].flatMap(([id, cells]) => (state.pairs.has(id) ? [] : [{ id, cells }]));
  const scan = { weight: state.weight, startedAt: scanStartedAt };
  // The reply to a create that the list lacks.
  const bases = new Map(
    state.intents.flatMap(({ leadId, content }) =>
      leadId === null || seen.has(leadId) ? [] : [[leadId, content] as const],
    ),
  );
  const facts = {
    matches: matchCreates(state.intents, strangers, scan),
    leads: seen,
    bases,
    hasRow: (leadId: string) => rowOf.has(leadId),
    loose: loose
      .filter(({ leadId }) => leadId === null)
      .map((row) => ({ ...row, contentHash: hashContent(row.cells, policy.fields) })),
    scan,
    filtered: state.filtered,
  };
  const creates = runSteps(settleCreates(state.intents, facts, policy));
  const ended = (...ends: readonly (string | undefined)[]): ReadonlySet<number> =>
    new Set([...creates.changes].flatMap(([id, { state: end }]) => (ends.includes(end) ? [id] : [])));
  const over = ended('abandoned', 'linked');
  const leadOf = new Map(creates.found.map(({ intent, leadId }) => [intent.id, leadId]));
  const linked = ended('linked');
  const made = new Map(
    creates.found.flatMap(({ intent, leadId, base }) =>
      seen.has(leadId) || linked.has(intent.id) ? [] : [[leadId, base] as const],
    ),
  );
  const open = state.intents.flatMap(({ id }) => (over.has(id) ? [] : [leadOf.get(id) ?? null]));
  return { creates, open, made };
}
