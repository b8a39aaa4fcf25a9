import type pg from 'pg';
import type { Cells, Values } from '../core/lead/value.ts';
import { planLink } from '../core/merge/plan-link.ts';
import type { Policy } from '../core/merge/policy.ts';
import { findIntentRows } from '../core/merge/intent-rows.ts';
import type { LostLead } from '../core/merge/lost-rows.ts';
import {
  agreedContent,
  shownContent,
  type Intent,
  isOver,
  matchLostCreates,
  speaksAgainst,
  tornWeight,
} from '../core/merge/match-lost-creates.ts';
import type { NewAction } from '../store/actions.ts';
import { openIntents } from '../store/intents.ts';
import { basesOf } from '../store/pairs.ts';
import type { Run } from '../store/runs.ts';
import { inTurns } from './in-turns.ts';
import { readable } from './row-change.ts';
import {
  idsInRows,
  looseStagedRows,
  missedLeads,
  scannedLeadCells,
  unknownLeads,
} from '../store/differences.ts';

/** Ids that a message names. */
const candidatesShown = 5;

/** What the scan says about creates that are not finished. */
export interface LostCreates {
  readonly actions: readonly NewAction[];
  /** Leads that belong to a create: not planned as new ones. */
  readonly leadIds: ReadonlySet<string>;
  /** Leads that were made of rows which are gone, or carry another id since. */
  readonly rowless: readonly LostLead[];
  /** Row numbers that belong to a create: not planned as new ones. */
  readonly rows: ReadonlySet<number>;
  /** `base`: what row and lead agree on. */
  readonly found: readonly {
    readonly intent: Intent;
    readonly leadId: string;
    readonly base: Values;
    readonly isPair: boolean;
  }[];
  /** Rows that were edited since the create began: what they show now is what they are recognised by next time. */
  readonly seen: readonly { readonly intentId: number; readonly row: Cells }[];
  /** Their lead's id stands in a row: written before a crash, or by a person. */
  readonly linked: readonly number[];
  readonly abandoned: readonly number[];
  readonly unseen: readonly number[];
  /** The scan shows leads that may be theirs. */
  readonly offered: readonly number[];
  readonly weight: number;
}

/** Finds the lead and the row of every unfinished create and plans the link between them (docs/architecture.md 6, intent journal). */
export async function findLostCreates(
  db: pg.PoolClient,
  run: Run,
  policy: Policy,
  { weight: most, filtered }: { readonly weight: number; readonly filtered: boolean },
): Promise<LostCreates> {
  const actions: NewAction[] = [];
  const leadIds = new Set<string>();
  const rowless: LostLead[] = [];
  const rows = new Set<number>();
  const found: LostCreates['found'][number][] = [];
  const seen: LostCreates['seen'][number][] = [];
  const linked: number[] = [];
  const abandoned: number[] = [];
  const unseen: number[] = [];
  const offered: number[] = [];
  const intents = await openIntents(db, run);
  if (intents.length === 0)
    return { actions, leadIds, rowless, rows, found, seen, linked, abandoned, unseen, offered, weight: most };

  const weight = run.scanIncomplete ? Math.min(most, tornWeight(await missedLeads(db, run))) : most;
  const scan = { weight, startedAt: run.scanStartedAt };
  const settlements = await inTurns(matchLostCreates(intents, await unknownLeads(db, run), scan));
  const foundIds = [...settlements.values()].flatMap((settled) =>
    settled.kind === 'found' ? [settled.leadId] : [],
  );
  const leads = await scannedLeadCells(db, run.id, foundIds);
  const bases = await basesOf(db, run.connection, foundIds);
  const inRows = await idsInRows(db, run.id, foundIds);
  const isLinked = ({ id }: Intent): boolean => {
    const settled = settlements.get(id);
    return settled?.kind === 'found' && inRows.has(settled.leadId);
  };
  const open = intents.filter((intent) => !isLinked(intent));
  const intentRows = await inTurns(findIntentRows(open, await looseStagedRows(db, run.id)));

  for (const intent of intents) {
    const settlement = settlements.get(intent.id);
    if (settlement === undefined || settlement.kind === 'again') {
      abandoned.push(intent.id);
      continue;
    }
    const lead = settlement.kind === 'found' ? (leads.get(settlement.leadId) ?? null) : null;
    const base = agreed(intent, lead, settlement.kind === 'found' ? bases.get(settlement.leadId) : undefined);
    if (settlement.kind === 'found') {
      found.push({ intent, leadId: settlement.leadId, base, isPair: bases.has(settlement.leadId) });
      if (isLinked(intent)) {
        // A pair like any other from now on.
        linked.push(intent.id);
        continue;
      }
      leadIds.add(settlement.leadId);
    } else if (settlement.kind === 'ambiguous') {
      offered.push(intent.id);
    } else if (speaksAgainst(intent, scan) > 0) {
      unseen.push(intent.id);
    }
    const { rows: alike, certain } = intentRows.get(intent.id) ?? { rows: [], certain: false };
    const [row] = alike;
    if (row === undefined) {
      // The row is gone: its lead, if there is one, is an ordinary new lead from now on, unless another id stands in its row.
      if (settlement.kind === 'found') {
        leadIds.delete(settlement.leadId);
        rowless.push(lostLead(settlement.leadId, intent, lead));
      }
      if (settlement.kind !== 'wait') abandoned.push(intent.id);
      continue;
    }
    // A row whose id cannot be read is held for that already, and may be another lead's.
    const [writable, ...others] = alike.filter(({ isUnreadable }) => !isUnreadable);
    if (writable === undefined) continue;
    for (const candidate of [writable, ...others]) rows.add(candidate.row);
    if (settlement.kind === 'ambiguous')
      for (const candidate of settlement.candidates) leadIds.add(candidate);
    if (!certain) {
      actions.push(
        held(
          intent,
          writable.row,
          'that row was edited since, and several rows look like it: write the id of its lead into the right row',
        ),
      );
      continue;
    }
    if (row.contentHash !== intent.contentHash) seen.push({ intentId: intent.id, row: row.cells });
    if (settlement.kind === 'ambiguous') {
      const candidates = settlement.candidates.slice(0, candidatesShown).join(', ');
      actions.push(
        held(
          intent,
          row.row,
          `the lead may be ${settlement.candidates.length > 1 ? 'one of ' : ''}${candidates}: write its id into the row, or when it is another one, delete the row, sync, and add it again`,
        ),
      );
    } else if (settlement.kind === 'wait' && filtered && isOver(intent, run.scanStartedAt)) {
      actions.push(
        held(
          intent,
          row.row,
          'it is not in the scan, but leads.query hides leads: look for it in the service. If it is there, write its id into the row. If not, delete the row, sync, and add it again',
        ),
      );
    } else if (settlement.kind === 'unrecognised') {
      actions.push(
        held(
          intent,
          row.row,
          'the service said that it made one, but there is no new lead: write the id of the right lead into the row. If there is none, delete the row, sync, and add it again',
        ),
      );
    } else if (settlement.kind === 'found') {
      const link = planLink(settlement.leadId, base, lead, row, policy);
      actions.push(
        ...link.map((action) => (action.kind === 'link' ? { ...action, intentId: intent.id } : action)),
      );
    }
  }
  return { actions, leadIds, rowless, rows, found, seen, linked, abandoned, unseen, offered, weight };
}

function lostLead(leadId: string, { row }: Intent, lead: Cells | null): LostLead {
  const base = readable(row);
  return { leadId, base, lead: lead ?? base, isListed: lead !== null, isFresh: true, place: null };
}

/** What row and lead agree on: the baseline when there is one, else what of the sent content the lead shows. */
function agreed(intent: Intent, lead: Cells | null, base: Values | undefined): Values {
  // The row shows what it showed then, so whatever has changed since is the lead's; but not what the lead does not show,
  // which the service may never have taken.
  if (intent.lostItsRow) return lead === null ? intent.content : shownContent(intent, lead);
  // What the service made of it is not known before the lead is seen.
  return base ?? (lead === null ? {} : agreedContent(intent, lead));
}

function held(intent: Intent, row: number | null, why: string): NewAction {
  return {
    kind: 'hold',
    leadId: intent.leadId,
    row,
    contentHash: intent.contentHash,
    changes: {},
    expect: {},
    reason: 'create.in-doubt',
    message: `could not tell which lead was created from this row, because the reply did not say; ${why}`,
  };
}
