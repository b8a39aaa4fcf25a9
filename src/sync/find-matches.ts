import type pg from 'pg';
import { hashContent } from '../core/lead/content-hash.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { type Cells, sameCell } from '../core/lead/value.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import { type Candidate, chooseMatches } from '../core/merge/match.ts';
import {
  blockKeys,
  contradicts,
  leastScore,
  type Likeness,
  likeness,
  type MatchForms,
  matchForms,
} from '../core/merge/match-likeness.ts';
import { planAmbiguousLead, planAmbiguousRow, planProposed } from '../core/merge/plan-held-rows.ts';
import { transaction } from '../store/database.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { MatchBlocks, type MatchRecord } from '../store/match-blocks.ts';
import {
  isNewOnBothSides,
  knownMatches,
  type MatchLine,
  type MatchState,
  newLeads,
  newRowCells,
  newRows,
  pairedValues,
} from '../store/matches.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import type { FoundRows } from './find-lost-rows.ts';
import { Decisions } from '../review/match-decisions.ts';
import type { LostCreates } from './find-lost-creates.ts';
import { Words } from './match-words.ts';

/** What is to become of new rows and new leads that may be one. */
export interface FoundMatches {
  /** The rows that get the id of a lead, by the lead; `message`: how it is known. */
  readonly rowOf: ReadonlyMap<
    string,
    { readonly row: number; readonly cells: Cells; readonly message: string }
  >;
  readonly linkedRows: ReadonlySet<number>;
  /** The problem of leads and rows that get no counterpart; null: it is reported with its lead. */
  readonly heldLeads: ReadonlyMap<string, PlannedAction>;
  readonly heldRows: ReadonlyMap<number, PlannedAction | null>;
  /** Null: nobody looked. */
  readonly lines: readonly MatchLine[] | null;
}

const noMatches: FoundMatches = {
  rowOf: new Map(),
  linkedRows: new Set(),
  heldLeads: new Map(),
  heldRows: new Map(),
  lines: null,
};

/** A name that more records have is nobody's for certain. */
const mostNamesakes = 100;

const batchSize = 1_000;

/** A lead and a row that were compared. */
interface Compared extends Candidate {
  readonly state: MatchState | null;
  readonly fields: Likeness['fields'];
}

/** New leads and new rows in lists of their own. */
interface Sides {
  readonly leadIds: string[];
  readonly rows: number[];
}

/**
 * Compares the new rows without id with the new leads. Left out is what belongs to an unsettled create or to a row that has
 * lost its id. With `match: off` nothing is asked.
 */
export async function findMatches(
  { pool, connection }: StepContext,
  run: Run,
  creates: Pick<LostCreates, 'rows' | 'leadIds'>,
  found: FoundRows,
): Promise<FoundMatches> {
  const { match, matchBy } = connection.sync;
  if (match === 'off') return noMatches;
  // Elsewhere what stands apart is a note; in HubSpot a company that nobody asked a lead for.
  const isApartToo = connection.target.type === 'hubspot';
  if (!(await isNewOnBothSides(pool, run, isApartToo))) return { ...noMatches, lines: [] };
  const marked = connection.fields.filter(({ field }) => matchBy.includes(field));
  const decisions = new Decisions(await knownMatches(pool, run.connection), marked);
  const sides: Sides = { leadIds: [], rows: [] };
  const words = new Words();
  const compared = await transaction(
    pool,
    async (db) => {
      const blocks = await MatchBlocks.open(db);
      const add = batched(blocks);
      for await (const { leadId, cells } of newLeads(pool, run)) {
        const forms = matchForms(cells, matchBy);
        if (creates.leadIds.has(leadId) || found.rowOf.has(leadId) || found.mayHaveRow(cells)) continue;
        if (forms === null) continue;
        decisions.seeLead(leadId, cells, sides.leadIds.length);
        words.see(forms);
        await add({ side: 'lead', nth: sides.leadIds.push(leadId) - 1, forms });
      }
      for await (const { row, contentHash, cells } of newRows(pool, run, isApartToo)) {
        const forms = matchForms(cells, matchBy);
        if (creates.rows.has(row) || found.links.has(row) || found.mayBe.has(row) || forms === null) continue;
        decisions.seeRow(contentHash, cells, sides.rows.length);
        words.see(forms);
        await add({ side: 'row', nth: sides.rows.push(row) - 1, forms });
      }
      await add(null);
      return compare(pool, run, blocks, words, decisions, { matchBy, isExact: match === 'exact' });
    },
    'repeatable',
  );
  const choice = chooseMatches(
    compared.filter(({ state }) => state !== 'rejected'),
    match === 'exact' && !run.scanIncomplete,
  );
  return describe(pool, run, sides, compared, choice, marked, matchBy);
}

/** Stores records some at a time; null: what is left. */
function batched(blocks: MatchBlocks): (record: MatchRecord | null) => Promise<void> {
  let waiting: MatchRecord[] = [];
  return async (record) => {
    if (record !== null) waiting.push(record);
    if (waiting.length === 0 || (record !== null && waiting.length < batchSize)) return;
    const records = waiting;
    waiting = [];
    await blocks.add(records);
  };
}

/** Pairs that may be one, and those that somebody has decided on or was asked about. */
async function compare(
  pool: pg.Pool,
  run: Run,
  blocks: MatchBlocks,
  words: Words,
  decisions: Decisions,
  { matchBy, isExact }: { readonly matchBy: readonly string[]; readonly isExact: boolean },
): Promise<readonly Compared[]> {
  const { rarity } = words;
  await blocks.divide((forms) => blockKeys(forms, rarity));
  const known = decisions.pairs();
  const compared: Compared[] = [];
  const exact: { readonly one: Compared; readonly forms: MatchForms }[] = [];
  const see = (lead: number, row: number, leadForms: MatchForms, rowForms: MatchForms): void => {
    const state = decisions.of(lead, row);
    const like = likeness(leadForms, rowForms, rarity);
    if (like.score < leastScore && state === null) return;
    const { score, fields, isNamesake } = like;
    const mayLink =
      isExact && like.isExact && state !== 'undone' && words.namesakes(leadForms) <= mostNamesakes;
    const one = {
      lead,
      row,
      score,
      fields,
      isNamesake,
      isExact: mayLink,
      isAccepted: state === 'accepted',
      state,
    };
    if (mayLink) exact.push({ one, forms: leadForms });
    compared.push(one);
  };
  for await (const page of blocks.pairs())
    for (const { lead, row, leadForms, rowForms } of page)
      if (!known.has(lead, row)) see(lead, row, leadForms, rowForms);
  for (const { lead, row, leadForms, rowForms } of await blocks.formsOf(known.list))
    see(lead, row, leadForms, rowForms);
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

async function describe(
  pool: pg.Pool,
  run: Run,
  sides: Sides,
  compared: readonly Compared[],
  { links, proposed, ambiguous }: ReturnType<typeof chooseMatches<Compared>>,
  marked: readonly FieldMapping[],
  matchBy: readonly string[],
): Promise<FoundMatches> {
  const isProposed = new Set(proposed);
  const rejected = compared.filter(({ state }) => state === 'rejected');
  const told = [...links, ...proposed, ...ambiguous, ...rejected];
  const leadIdOf = ({ lead }: Compared): string => sides.leadIds[lead] ?? '';
  const rowOf = ({ row }: Compared): number => sides.rows[row] ?? 0;
  const leads = await scannedLeadCells(pool, run.id, [...new Set(told.map(leadIdOf))]);
  const rows = await newRowCells(pool, run.id, [...new Set(told.map(rowOf))]);
  const cellsOf = (one: Compared) => {
    const row = rows.get(rowOf(one)) ?? { row: rowOf(one), contentHash: '', cells: {} };
    const lead = leads.get(leadIdOf(one)) ?? {};
    return { leadId: leadIdOf(one), lead, ...row, why: whyOf(one.fields, matchBy, lead, row.cells) };
  };
  const line = (one: Compared): MatchLine => {
    const { lead, cells, leadId, row, contentHash, why } = cellsOf(one);
    const marks = { leadMark: hashContent(lead, marked), rowMark: hashContent(cells, marked) };
    const kept =
      one.state === 'accepted' || one.state === 'rejected' || one.state === 'undone' ? one.state : null;
    const state = kept ?? (isProposed.has(one) ? 'proposed' : 'ambiguous');
    return { leadId, lead, row, contentHash, cells, why, score: one.score, state, ...marks };
  };
  const ofLeads = Map.groupBy(ambiguous.toSorted(byScore), ({ lead }) => lead);
  const ofRows = Map.groupBy(ambiguous.toSorted(byScore), ({ row }) => row);
  const shown = [...ofLeads.values(), ...ofRows.values()].flatMap((ones) => ones.slice(0, listed));
  const accepted = links.filter(({ isAccepted }) => isAccepted);
  const listedOnes = [...new Set([...accepted, ...proposed, ...shown, ...rejected])];
  const heldLeads = new Map(proposed.map((one) => [leadIdOf(one), planProposed(cellsOf(one))]));
  const heldRows = new Map<number, PlannedAction | null>(proposed.map((one) => [rowOf(one), null]));
  for (const ones of ofLeads.values()) {
    const [first] = ones;
    if (first === undefined || heldLeads.has(leadIdOf(first))) continue;
    heldLeads.set(leadIdOf(first), planAmbiguousLead(leadIdOf(first), cellsOf(first).lead, ones.map(rowOf)));
  }
  for (const ones of ofRows.values()) {
    const [first] = ones;
    if (first === undefined || heldRows.has(rowOf(first))) continue;
    heldRows.set(rowOf(first), planAmbiguousRow(cellsOf(first), ones.map(leadIdOf)));
  }
  return {
    rowOf: new Map(
      links.map((one) => {
        const { row, cells, why } = cellsOf(one);
        const message = one.isAccepted ? `a person has accepted the match: ${why}` : why;
        return [leadIdOf(one), { row, cells, message }];
      }),
    ),
    linkedRows: new Set(links.map(rowOf)),
    heldLeads,
    heldRows,
    lines: listedOnes.map(line),
  };
}

const byScore = (a: Compared, b: Compared): number => b.score - a.score || a.lead - b.lead || a.row - b.row;

/** Why two records may be one, in words. */
function whyOf(fields: Likeness['fields'], matchBy: readonly string[], lead: Cells, row: Cells): string {
  const said = fields.flatMap((like, nth) => {
    const field = matchBy[nth] ?? '';
    const [one, other] = [lead[field] ?? null, row[field] ?? null];
    if (like === 'empty' && sameCell(one, null) && sameCell(other, null)) return [];
    if (like === 'same') return [`${field} is the same${sameCell(one, other) ? '' : ' but for spelling'}`];
    if (like === 'alike') return [`${field} is alike`];
    return [like === 'differs' ? `${field} is another one` : `${field} is empty on one side`];
  });
  return said.join(', ');
}
