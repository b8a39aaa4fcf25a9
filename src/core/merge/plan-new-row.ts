import { hashContent } from '../lead/content-hash.ts';
import { isImplausible } from '../lead/follow-up.ts';
import { headingOf } from '../lead/mapping.ts';
import { type Cells, isUnreadable } from '../lead/value.ts';
import { type Change, type PlannedAction, plannedAction } from './action.ts';
import { holdMessage, unreadableAdvice } from './hold-message.ts';
import { named, planMissing, planTooLarge } from './plan-held-rows.ts';
import { unreadCode } from './merge-field.ts';
import { missedFields, type Policy } from './policy.ts';
import { type Refused, refusedMessage, sentContent } from './refused-create.ts';

/**
 * A row without id and without an intent. `refused`: why exactly this content is not sent. A lead without a name is
 * never sent.
 */
export function planNewRow(
  row: number,
  cells: Cells,
  refused: Refused | null,
  policy: Policy,
): readonly PlannedAction[] {
  const sent = sentContent(cells, policy);
  const changes: Record<string, Change> = Object.fromEntries(
    Object.entries(sent).map(([field, to]) => [field, { from: null, to, rule: 'row-edited' }]),
  );
  const given = { leadId: null, row, contentHash: hashContent(cells, policy.fields), expect: cells };
  const end = (kind: 'hold' | 'report', reason: string, message: string): readonly PlannedAction[] => [
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
