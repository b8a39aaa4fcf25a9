import { auditRecord, waits } from '../../src/core/audit/audit.ts';
import { carryOut } from './carry-out.ts';
import { planRun } from './plan-run.ts';
import { anyRun } from './whole-run.ts';

/** What an audit finds of one whole run: each unexplained difference as a line; none, when the planner is right. */
export function auditState(seed: number, size: number): readonly string[] {
  const state = anyRun(seed, size);
  const planned = planRun(state);
  const { records, conditions, isIncomplete } = carryOut(state, planned);
  const faults: string[] = [];
  const paused = planned.loose.filter(({ isPaused }) => isPaused);
  for (const { kind, leadId, row, reason } of planned.actions) {
    // A copy that is not paused is held as any, and so is a lead whose row was merged into a paused one.
    if (reason === 'row.duplicate-id' || reason === 'row.merged') continue;
    if (planned.rowOf.get(leadId ?? '')?.isPaused === true || paused.some((one) => one.row === row))
      faults.push(`${kind} of ${leadId ?? `row ${row}`}, which is paused`);
  }
  for (const record of records) {
    const { unexplained, reasons } = auditRecord(record, state.policy, conditions);
    for (const { leadId, row, field, lead, cell } of unexplained)
      faults.push(`${leadId} row ${row} ${field}: ${JSON.stringify(lead)} and ${JSON.stringify(cell)}`);
    if (!isIncomplete && [...reasons].some(waits))
      faults.push(`${[...reasons].join(', ')} in a run that says it succeeded`);
  }
  return faults;
}
