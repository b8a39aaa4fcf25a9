import type { RowOutcome } from '../../ports/target.ts';

export type Verdict = Omit<Exclude<RowOutcome, { status: 'done' }>, 'key'>;

/** What users call the parts of a target; default: those of a table. */
export interface TargetWords {
  readonly row: string;
  readonly column: string;
}

export const tableWords: TargetWords = { row: 'row', column: 'column' };

export const verdicts = ({ row, column }: TargetWords) =>
  ({
    changed: {
      status: 'deferred',
      code: 'row.changed',
      message: `The ${row} no longer shows what the plan saw. It was not changed; the next run tries again.`,
    },
    gone: {
      status: 'deferred',
      code: 'row.gone',
      message: `No ${row} has this id any more. Nothing was written; the next run tries again.`,
    },
    exists: {
      status: 'deferred',
      code: 'row.exists',
      message: `A ${row} with this id exists already, with other values. It was not changed.`,
    },
    duplicated: {
      status: 'deferred',
      code: 'row.duplicated',
      message: `More than one ${row} has this id, so none was changed. Remove the copies by hand.`,
    },
    ownCells: {
      status: 'held',
      code: 'row.has-own-cells',
      message: `Somebody filled other columns of this ${row}. It was not changed; delete it by hand if it is not needed.`,
    },
    noStatusColumn: {
      status: 'held',
      code: 'target.no-status-column',
      message: `There is no single status ${column} for the mark. The ${row} was not changed.`,
    },
  }) as const satisfies Record<string, Verdict>;
