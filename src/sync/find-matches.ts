import type pg from 'pg';
import { hashContent } from '../core/lead/content-hash.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { type Cells, sameCell } from '../core/lead/value.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import {
  type Candidate,
  chooseMatches,
  contradicts,
  type Likeness,
  likeness,
  MatchBlocks,
  type MatchedRecords,
  type MatchForms,
  matchForms,
  noMatches,
} from '../core/merge/match-likeness.ts';
import type { FoundRows } from '../core/merge/lost-rows.ts';
import type { LooseRow } from '../core/merge/difference.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Steps } from '../core/merge/match-lost-creates.ts';
import { missedFields, type Policy } from '../core/merge/policy.ts';
import { planAmbiguousLead, planAmbiguousRow, planProposed } from '../core/merge/plan-rows.ts';
import { knownMatches, type MatchLine, type MatchState, pairedValues } from '../store/held.ts';
import type { Run } from '../store/runs.ts';
import { inTurns } from './concurrency.ts';
import type { StepContext } from './context.ts';
import { Decisions } from '../review/match-decisions.ts';
import type { SettledCreates } from '../core/merge/settle-creates.ts';

export interface FoundMatches extends MatchedRecords {
  /** Null: nothing was compared. */
  readonly lines: readonly MatchLine[] | null;
}

const nothingCompared: FoundMatches = { ...noMatches, lines: null };

/** A name that more records share proves nothing. */
const mostNamesakes = 100;

interface Compared extends Candidate {
  readonly state: MatchState | null;
  readonly fields: Likeness['fields'];
}

/** The new leads and the new rows, in the order of their indexes. */
interface Sides {
  readonly leadIds: string[];
  readonly rows: number[];
}

/**
 * Compares the new rows without id with the new leads, except those that belong to an unfinished create or to a row that
 * lost its id. With `match: off` nothing is read.
 */
export async function findMatches(
  { pool, connection }: StepContext,
  run: Run,
  scan: LiveScan,
  creates: Pick<SettledCreates, 'rows' | 'leadIds'>,
  found: FoundRows,
  policy: Policy,
): Promise<FoundMatches> {
  const { match, matchBy } = connection.sync;
  if (match === 'off' || missedFields(policy).length > 0) return nothingCompared;
  // In HubSpot a row apart is a company without a request for a lead; elsewhere it is a note.
  const isApartToo = connection.target.type === 'hubspot';
  // Once more for each use: together they may be more than fits into memory as objects.
  const newRows = function* () {
    for (const row of scan.rows.loose()) if (isNewRow(row, isApartToo)) yield row;
  };
  const isAnyRow = newRows().next().done !== true;
  const newLeads = isAnyRow ? [...scan.leads()].filter((leadId) => isNewLead(scan, leadId)) : [];
  if (newLeads.length === 0) return { ...noMatches, lines: [] };
  const marked = connection.fields.filter(({ field }) => matchBy.includes(field));
  const decisions = new Decisions(await knownMatches(pool, run.connection), marked);
  const sides: Sides = { leadIds: [], rows: [] };
  const namesakes = new Namesakes();
  const blocks = new MatchBlocks();
  for (const leadId of newLeads.toSorted()) {
    const cells = scan.lead(leadId) ?? {};
    const forms = matchForms(cells, matchBy);
    if (creates.leadIds.has(leadId) || found.rowOf.has(leadId) || found.mayHaveRow(cells)) continue;
    if (forms === null) continue;
    sides.leadIds.push(leadId);
    namesakes.see(forms);
    decisions.seeLead(leadId, cells, blocks.add('lead', forms));
  }
  for (const { row, contentHash, cells } of newRows()) {
    const forms = matchForms(cells, matchBy);
    if (creates.rows.has(row) || found.links.has(row) || found.mayBe.has(row) || forms === null) continue;
    sides.rows.push(row);
    namesakes.see(forms);
    decisions.seeRow(contentHash, cells, blocks.add('row', forms));
  }
  const compared = await compare(pool, run, blocks, namesakes, decisions, {
    matchBy,
    isExact: match === 'exact',
  });
  const choice = chooseMatches(
    compared.filter(({ state }) => state !== 'rejected'),
    match === 'exact' && !run.scanIncomplete,
  );
  return describe(scan, newRows(), sides, compared, choice, marked, matchBy);
}

/** Whether a row has no id and may get one. */
function isNewRow(
  { leadId, unreadableId, idClosed, isApart, isPaused = false }: LooseRow,
  isApartToo: boolean,
): boolean {
  const isOpen = unreadableId === null && idClosed === null && !isPaused;
  return leadId === null && isOpen && (!isApart || isApartToo);
}

/** Whether a lead never had a row. */
function isNewLead(scan: LiveScan, leadId: string): boolean {
  return !scan.base.wasInStep(scan.base.find(leadId)) && !scan.rows.has(leadId);
}

/** Candidate pairs, and those decided on or proposed before. */
async function compare(
  pool: pg.Pool,
  run: Run,
  blocks: MatchBlocks,
  namesakes: Namesakes,
  decisions: Decisions,
  { matchBy, isExact }: { readonly matchBy: readonly string[]; readonly isExact: boolean },
): Promise<readonly Compared[]> {
  const known = decisions.pairs();
  const compared: Compared[] = [];
  const exact: { readonly one: Compared; readonly forms: MatchForms }[] = [];
  const see = ({ lead, row }: { readonly lead: number; readonly row: number }): void => {
    const [leadForms, rowForms] = [blocks.forms('lead', lead), blocks.forms('row', row)];
    const state = decisions.of(lead, row);
    const like = likeness(leadForms, rowForms);
    if (like.score === 0 && state === null) return;
    const mayLink = isExact && like.isExact && state !== 'undone' && namesakes.of(leadForms) <= mostNamesakes;
    const one = { lead, row, ...like, isExact: mayLink, isAccepted: state === 'accepted', state };
    if (mayLink) exact.push({ one, forms: leadForms });
    compared.push(one);
  };
  const pairs = await inTurns(blocks.pairs());
  await inTurns(
    (function* (): Steps<void> {
      for (const pair of pairs) {
        yield;
        if (!known.has(pair.lead, pair.row)) see(pair);
      }
    })(),
  );
  for (const pair of known.list) see(pair);
  const doubted = new Set<Compared>();
  if (exact.length > 0) {
    const byName = Map.groupBy(exact, ({ forms }) => forms[0]?.key ?? '');
    for await (const { values } of pairedValues(pool, run.connection, matchBy)) {
      const forms = matchForms(values, matchBy);
      if (forms === null) continue;
      for (const { one, forms: own } of byName.get(forms[0]?.key ?? '') ?? [])
        if (!contradicts(forms, own)) doubted.add(one);
    }
  }
  return compared.map((one) => (doubted.has(one) ? { ...one, isExact: false } : one));
}

/** The most matches listed for one lead or row. */
const listed = 5;

function describe(
  scan: LiveScan,
  newRows: Iterable<LooseRow>,
  sides: Sides,
  compared: readonly Compared[],
  { links, proposed, ambiguous }: ReturnType<typeof chooseMatches<Compared>>,
  marked: readonly FieldMapping[],
  matchBy: readonly string[],
): FoundMatches {
  const isProposed = new Set(proposed);
  const rejected = compared.filter(({ state }) => state === 'rejected');
  const linked = new Set(links.map(({ lead }) => lead));
  const involved = [...links, ...proposed, ...ambiguous, ...rejected];
  const leadIdOf = ({ lead }: Compared): string => sides.leadIds[lead] ?? '';
  const rowOf = ({ row }: Compared): number => sides.rows[row] ?? 0;
  const leads = new Map(involved.map((one) => [leadIdOf(one), scan.lead(leadIdOf(one)) ?? {}]));
  const rowsInvolved = new Set(involved.map(rowOf));
  const rows = new Map<number, LooseRow>();
  for (const one of newRows) if (rowsInvolved.has(one.row)) rows.set(one.row, one);
  const shownRow = (row: number) => {
    const { contentHash = '', cells = {} } = rows.get(row) ?? {};
    return { row, contentHash, cells };
  };
  const cellsOf = (one: Compared) => {
    const row = shownRow(rowOf(one));
    const lead = leads.get(leadIdOf(one)) ?? {};
    return { leadId: leadIdOf(one), lead, ...row, why: whyOf(one.fields, matchBy, marked, lead, row.cells) };
  };
  const line = (one: Compared): MatchLine => {
    const pair = cellsOf(one);
    const marks = { leadMark: hashContent(pair.lead, marked), rowMark: hashContent(pair.cells, marked) };
    const isDecided = one.state !== null && one.state !== 'proposed' && one.state !== 'ambiguous';
    const state = isDecided ? one.state : isProposed.has(one) ? 'proposed' : 'ambiguous';
    return { ...pair, ...marks, score: one.score, state };
  };
  const likeliest = ambiguous.toSorted(byScore);
  const [ofLeads, ofRows] = [Map.groupBy(likeliest, leadIdOf), Map.groupBy(likeliest, rowOf)];
  const shown = [...ofLeads.values(), ...ofRows.values()].flatMap((ones) => ones.slice(0, listed));
  const accepted = links.filter(({ isAccepted }) => isAccepted);
  const listedOnes = [...new Set([...accepted, ...proposed, ...shown, ...rejected])];
  const heldLeads = new Map(proposed.map((one) => [leadIdOf(one), planProposed(cellsOf(one))]));
  const heldRows = new Map<number, PlannedAction | null>(proposed.map((one) => [rowOf(one), null]));
  for (const [leadId, ones] of ofLeads)
    if (!heldLeads.has(leadId))
      heldLeads.set(leadId, planAmbiguousLead(leadId, leads.get(leadId) ?? {}, ones.map(rowOf)));
  for (const [row, ones] of ofRows)
    if (!heldRows.has(row))
      heldRows.set(
        row,
        planAmbiguousRow(
          shownRow(row),
          ones.map((one) => cellsOf(one)),
        ),
      );
  return {
    rowOf: new Map(
      links.map((one) => {
        const { row, cells, why } = cellsOf(one);
        const message = one.isAccepted ? `a person has accepted the match: ${why}` : why;
        return [leadIdOf(one), { row, cells, message }];
      }),
    ),
    linkedRows: new Set(links.map(rowOf)),
    rejectedRows: new Set(rejected.filter(({ lead }) => linked.has(lead)).map(rowOf)),
    heldLeads,
    heldRows,
    lines: listedOnes.map(line),
  };
}

const byScore = (a: Compared, b: Compared): number => b.score - a.score || a.lead - b.lead || a.row - b.row;

/** What is said of a field that is not the same. */
const difference = {
  alike: 'is spelled otherwise',
  typo: 'has a typo on one side',
  differs: 'is another one',
  'one-empty': 'is empty on one side',
} as const;

/** The evidence that two records are the same, in words. */
function whyOf(
  fields: Likeness['fields'],
  matchBy: readonly string[],
  mapped: readonly FieldMapping[],
  lead: Cells,
  row: Cells,
): string {
  const said = fields.flatMap((like, nth) => {
    const field = matchBy[nth] ?? '';
    const [one, other] = [lead[field] ?? null, row[field] ?? null];
    if (like === 'empty') return [];
    const heading = headingOf(mapped, field);
    if (like === 'same') return [`${heading} is the same${sameCell(one, other) ? '' : ' but for spelling'}`];
    return [`${heading} ${difference[like]}`];
  });
  return said.join(', ');
}

class Namesakes {
  readonly #counts = new Map<string, number>();

  see(forms: MatchForms): void {
    const [{ key }] = forms;
    this.#counts.set(key, this.of(forms) + 1);
  }

  of([{ key }]: MatchForms): number {
    return this.#counts.get(key) ?? 0;
  }
}
