import { auditRun, nothingAudited, type RunAudit, type Unexplained } from '../core/audit/audit.ts';
import { type Headings, headingOf } from '../core/lead/mapping.ts';
import { showCell } from '../core/lead/value.ts';
import type { Problem } from '../lib/errors.ts';
import { runPolicy } from '../review/run-policy.ts';
import { auditedConditions, auditRecords } from '../store/audit-records.ts';
import type { Run } from '../store/runs.ts';
import type { LeasedContext } from './context.ts';

export const auditCode = 'audit.unexplained';

/** The most unexplained differences that a report names. */
const mostNamed = 100;

/** Looks at all that differs at the end of a run that compared both sides, and was not stopped. */
export async function audit(
  { pool, connection }: Pick<LeasedContext, 'pool' | 'connection'>,
  run: Run,
): Promise<RunAudit> {
  const { plan, leadsAlone } = runPolicy(run);
  if (plan !== null || leadsAlone || run.refusals.length > 0) return nothingAudited;
  const unseen = run.problems.flatMap(({ code, field }) =>
    code === 'target.column-missing' || code === 'target.column-new' ? (field ?? []) : [],
  );
  const conditions = {
    isPlan: run.mode === 'plan',
    unseen: new Set(unseen),
    ...(await auditedConditions(pool, run)),
  };
  const settings = { ...connection.sync, fields: connection.fields };
  return auditRun(auditRecords(pool, run), settings, conditions, mostNamed);
}

/** The problems of an audit. `saysAll`: nothing else says that the run is unfinished. */
export function auditProblems(
  { unexplained, count, isUnfinished }: RunAudit,
  saysAll: boolean,
  fields: Headings,
): Problem[] {
  const more = count - unexplained.length;
  return [
    ...unexplained.map((one) => unexplainedProblem(one, fields)),
    ...(more > 0 ? [{ code: auditCode, message: `${more} more differences are not explained` }] : []),
    ...(count === 0 && isUnfinished && saysAll
      ? [
          {
            code: auditCode,
            message: `something that differs is not done yet, and nothing names it. ${mistake}`,
          },
        ]
      : []),
  ];
}

const mistake =
  'This is a mistake in leadsync: please report it with the log; nothing of it was lost, and the next run compares it again';

function unexplainedProblem(
  { leadId, row, name, field, lead, cell }: Unexplained,
  fields: Headings,
): Problem {
  const ids = [leadId === null ? [] : `lead ${leadId}`, row === null ? [] : `row ${row}`].flat().join(', ');
  const who = name === null ? ids : `${showCell(name)} (${ids})`;
  const what =
    field !== null
      ? `${headingOf(fields, field)} of ${who} is ${showCell(lead)} in the service and ${showCell(cell)} in the table`
      : lead === null
        ? `${who} is in the table, and the run saw no lead of it`
        : `${who} is in the service, and the run saw no row of it`;
  return {
    code: auditCode,
    message: `${what}, and nothing in this run says why. ${mistake}`,
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
    ...(field !== null && { field }),
  };
}
