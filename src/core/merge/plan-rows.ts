import { hashContent } from '../lead/content-hash.ts';
import { type Cells, isUnreadable, showCell } from '../lead/value.ts';
import { count, counted } from '../lead/wording.ts';
import { largeField, mostOfRecord } from '../lead/text-size.ts';
import { headingOf } from '../lead/mapping.ts';
import { type Actions, type Change, type PlannedAction, plannedAction } from './action.ts';
import { missedFields, type Policy } from './policy.ts';
import { isImplausible } from '../lead/follow-up.ts';
import { holdMessage, unreadableAdvice } from './holds.ts';
import { unreadCode } from './merge-field.ts';
import { type Refused, refusedMessage, sentContent } from './refused-create.ts';

/** What each side shows of a record; null: nothing. */
interface Sides {
  readonly lead: Cells | null;
  readonly row: { readonly row: number; readonly cells: Cells } | null;
}

/** A further row with an id that an earlier row has: never written. `mayBe`: leads it may belong to. */
export function planDuplicateRow(leadId: string, row: number, mayBe?: readonly string[]): PlannedAction {
  const message = `row ${row} repeats the id of a row above it: only the first is synced. ${idAdvice(mayBe)}`;
  const contentHash = `duplicate:${row}`;
  return plannedAction('hold', { leadId, row, contentHash, reason: 'row.duplicate-id', message });
}

/** A row without id that may belong to a lead whose row is gone: neither a second lead nor a second row is created. */
export function planLostRow(
  row: number,
  cells: Cells,
  mayBe: readonly string[],
  policy: Policy,
): PlannedAction {
  const message = `row ${row}${named(cells)} has no id: no lead was created. ${idAdvice(mayBe)}`;
  return holdRow(row, cells, 'row.id-lost', message, policy);
}

/** A row whose id cell shows something that is no id and must not be overwritten. */
export function planUnreadableId(
  row: number,
  cells: Cells,
  shown: string,
  mayBe: readonly string[] | undefined,
  policy: Policy,
): PlannedAction {
  const whose = mayBe === undefined ? '' : ` It may be the row of lead ${someOf(mayBe)}.`;
  const message = `row ${row}${named(cells)} has ${showCell({ unreadable: shown })} in its id cell, which is not an id: nothing was changed, no lead was created, and until this is fixed no row counts as deleted.${whose} Type the id there as plain text, or empty the cell`;
  return holdRow(row, cells, 'row.id-unreadable', message, policy);
}

/** A new row into which no id can be written (`why`, a sentence): every run would create its lead again. */
export function planClosedId(row: number, cells: Cells, why: string, policy: Policy): PlannedAction {
  const message = `row ${row}${named(cells)} is new, but no id can be written into it: ${why} No lead was created`;
  return holdRow(row, cells, 'row.id-closed', message, policy);
}

/** A row with the id of one lead and the content of others (`others`; empty: its own values are elsewhere). */
export function planMovedRow(
  { leadId, row }: Pick<Sides, 'row'> & { readonly leadId: string },
  others: readonly string[],
): PlannedAction {
  const what =
    others.length === 0
      ? 'values that differ from before, while another row shows the earlier ones'
      : `what lead ${someOf(others)} had`;
  const message = `row ${row?.row ?? '?'} carries the id of lead ${leadId} and shows ${what}: nothing was changed. Were ids or rows shifted against each other? Put each id back beside its values; if this is intended, run leadsync sync --allow rows-shuffled`;
  return plannedAction('hold', { leadId, row: row?.row ?? null, reason: 'row.id-moved', message });
}

/** A new row that shows the same company as another one, `first`, of which a lead is or was made. */
export function planTwinRow(row: number, cells: Cells, first: number, policy: Policy): PlannedAction {
  const message = `row ${row}${named(cells)} is new, and shows the same company as row ${first}: no second lead was created. Delete one of the two rows, or decide for a second lead: leadsync conflicts shows the number for leadsync resolve NUMBER --use row`;
  return holdRow(row, cells, 'row.twin', message, policy);
}

/** A record with more text than leadsync takes of one; null: neither side has that. */
export function planTooLarge(
  { leadId, lead, row }: Sides & { readonly leadId: string | null },
  policy: Policy,
): PlannedAction | null {
  for (const side of ['row', 'lead'] as const) {
    const cells = side === 'row' ? row?.cells : lead;
    const large = cells ? largeField(cells) : null;
    if (large === null) continue;
    const name = side === 'row' ? `row ${row?.row}` : `the lead ${leadId}`;
    const message = `${name} has ${large.sizes} in "${headingOf(policy.fields, large.field)}", and leadsync takes ${count(mostOfRecord)} of one: nothing was changed on either side. Shorten its longest texts, or take the column out of \`fields\``;
    const reason = `${side}.too-large`;
    if (leadId === null && row) return holdRow(row.row, row.cells, reason, message, policy);
    return plannedAction('hold', { leadId, row: row?.row ?? null, reason, message });
  }
  return null;
}

function holdRow(row: number, expect: Cells, reason: string, message: string, policy: Policy): PlannedAction {
  const contentHash = hashContent(expect, policy.fields);
  return plannedAction('hold', { leadId: null, row, contentHash, expect, reason, message });
}

export const missedCode = 'row.column-missing';

/** Of a new record while a mapped column is missing; all of them are listed as one (`planMissed`). */
export function planMissing(given: Pick<PlannedAction, 'leadId' | 'row'>): PlannedAction {
  return plannedAction('hold', { ...given, reason: missedCode });
}

/** Nothing is created while a mapped column is missing: one line for all new rows and leads. */
export function planMissed(
  { leads, rows }: { readonly leads: number; readonly rows: number },
  policy: Policy,
): PlannedAction {
  const missed = missedFields(policy);
  const columns = missed.map(({ column }) => JSON.stringify(column));
  const made = [
    ...(rows > 0 ? [`no lead of ${counted(rows, 'new row')}`] : []),
    ...(leads > 0 ? [`no row of ${counted(leads, 'lead')}`] : []),
  ];
  const message = `the table has no column, or two, headed ${columns.join(', ')}, so ${made.join(' and ')} was made: each would lack it. Edits of known leads go on. Put the heading right, or name the column in the configuration (fields: ${missed.map(({ field }) => field).join(', ')}), then run leadsync sync`;
  return plannedAction('hold', { leadId: null, contentHash: missedCode, reason: missedCode, message });
}

/** What to do with a row whose id is not its own. `mayBe`: leads without a row, to which it may belong. */
export function idAdvice(mayBe?: readonly string[]): string {
  if (mayBe === undefined) return 'Clear the id to make a new lead of this row, or delete the row';
  const [whose, areGone, id] =
    mayBe.length > 1
      ? ['one of the leads', 'rows are gone and were', 'the right id']
      : ['lead', 'row is gone and was', 'this id'];
  return `It may be the row of ${whose} ${someOf(mayBe)}, whose ${areGone} not written again: type ${id} into its id cell. If it is a new row, delete it, sync, and add it again`;
}

/** A new lead and a new row that may be the same, and why. */
interface LikelyPair {
  readonly leadId: string;
  readonly lead: Cells;
  readonly row: number;
  readonly contentHash: string;
  readonly cells: Cells;
  readonly why: string;
}

const help = 'leadsync conflicts shows both, and you decide';

/** A lead and a row that are each other's likeliest match. */
export function planProposed({ leadId, lead, row, contentHash, cells, why }: LikelyPair): PlannedAction {
  const message = `row ${row}${named(cells)} has no id and may be the lead ${nameOf(leadId, lead)}: ${why}. Until you decide, no lead is made of it. ${help}`;
  return plannedAction('hold', { leadId, row, contentHash, reason: 'match.proposed', message });
}

/** A lead that may be several rows; `rows`: the likeliest first. */
export function planAmbiguousLead(leadId: string, lead: Cells, rows: readonly number[]): PlannedAction {
  const message = `the lead ${nameOf(leadId, lead)} may be ${oneOf('row', rows)}; none is certain. No row was written for it. ${help}`;
  return plannedAction('hold', { leadId, reason: 'match.ambiguous', message });
}

/** A row that may be several leads, or shares its lead with another row. */
export function planAmbiguousRow(
  { row, contentHash, cells }: Pick<LikelyPair, 'row' | 'contentHash' | 'cells'>,
  leads: readonly Pick<LikelyPair, 'leadId' | 'lead'>[],
): PlannedAction {
  const names = leads.map(({ leadId, lead }) => nameOf(leadId, lead));
  const message = `row ${row}${named(cells)} has no id and may be ${oneOf('lead', names)}; none is certain. No lead was created. ${help}`;
  const reason = 'match.ambiguous';
  return plannedAction('hold', { leadId: null, row, contentHash, expect: cells, reason, message });
}

function oneOf(what: 'row' | 'lead', items: readonly (string | number)[]): string {
  return items.length === 1 ? `${what} ${items[0]}` : `one of the ${what}s ${someOf(items)}`;
}

const shown = 3;

function someOf(items: readonly (string | number)[]): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A lead's company, else its id. */
function nameOf(leadId: string, { companyName = null }: Cells): string {
  return companyName === null ? leadId : showCell(companyName);
}

/** ` ("Acme GmbH")`, or nothing. */
function named({ companyName = null }: Cells): string {
  return companyName === null ? '' : ` (${showCell(companyName)})`;
}

/**
 * A row without id and without an intent. `refused`: why exactly this content is not sent. A lead without a name is
 * never sent.
 */
export function planNewRow(row: number, cells: Cells, refused: Refused | null, policy: Policy): Actions {
  const sent = sentContent(cells, policy);
  const changes: Record<string, Change> = Object.fromEntries(
    Object.entries(sent).map(([field, to]) => [field, { from: null, to, rule: 'row-edited' }]),
  );
  const given = { leadId: null, row, contentHash: hashContent(cells, policy.fields), expect: cells };
  const end = (kind: 'hold' | 'report', reason: string, message: string): Actions => [
    plannedAction(kind, { ...given, reason, message }),
  ];
  const holds: PlannedAction[] = [];
  let isWaiting = false;
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const cell = cells[field] ?? null;
    if (!isUnreadable(cell)) continue;
    const reason = unreadCode('row', cell);
    const waits = reason === 'row.unmapped' && mapping.direction !== 'to-target';
    isWaiting ||= waits;
    const message = waits
      ? `row ${row}${named(cells)} is new, but its ${headingOf([mapping], field)} ${unreadableAdvice(cell, mapping)}. No lead was created`
      : holdMessage(reason, mapping, null, cell);
    const unread = { [field]: { from: null, to: cell } };
    holds.push(plannedAction('hold', { ...given, changes: unread, reason, message }));
  }
  const withoutId = `row ${row} has no id; `;
  if (policy.direction === 'to-target')
    return end('report', 'row.without-id', `${withoutId}direction is to-target, so no lead is created`);
  const tooLarge = planTooLarge({ leadId: null, lead: null, row: { row, cells } }, policy);
  if (tooLarge !== null) return [tooLarge];
  const name = [...policy.fields, ...policy.unseen].find(({ field }) => field === 'companyName');
  if (name?.direction !== 'to-target' && missedFields(policy).length > 0)
    return [planMissing({ leadId: null, row })];
  if (name?.direction === 'to-target' || (name === undefined && Object.keys(changes).length === 0)) {
    const why = 'none of its fields travels to the service, so no lead is created';
    return end('report', 'row.without-id', withoutId + why);
  }
  if (name !== undefined && !('companyName' in changes)) {
    const cell = cells['companyName'] ?? null;
    if (isUnreadable(cell)) {
      const why = unreadableAdvice(cell, name);
      return end(
        'hold',
        'row.unreadable',
        `row ${row} is new, but its company name cannot be read: ${why}. No lead was created`,
      );
    }
    const message = `row ${row} is new but has no company name: no lead was created. Fill in the name, or empty the row`;
    return end('hold', 'row.company-name-empty', message);
  }
  const odd = policy.fields.find((mapping) => isImplausible(sent[mapping.field] ?? null, mapping));
  if (odd !== undefined) {
    // A lead without it would empty the cell.
    const why = unreadableAdvice(sent[odd.field] ?? null, odd);
    const message = `row ${row}${named(cells)} is new, but its ${headingOf([odd], odd.field)} ${why}. No lead was created`;
    return end('hold', 'row.unreadable', message);
  }
  // A lead without the word's value would lose what the row says.
  if (isWaiting) return holds;
  if (refused !== null) return end('hold', refused.code, refusedMessage(row, refused));
  return [...holds, plannedAction('create-lead', { ...given, changes, reason: 'new-row' })];
}
