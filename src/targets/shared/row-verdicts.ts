import type { RowOutcome } from '../../ports/target.ts';

/** Why a change is not done. */
export type Verdict = Omit<Exclude<RowOutcome, { status: 'done' }>, 'key'>;

/** What the users of a target call its parts; those of a table unless given. */
export interface TargetWords {
  readonly row: string;
  readonly column: string;
}

export const tableWords: TargetWords = { row: 'row', column: 'column' };

/** Why a change is not done, by what the row shows. */
export const verdicts = ({ row, column }: TargetWords) =>
  ({
    changed: {
      status: 'put-off',
      code: 'row.changed',
      message: `The ${row} no longer shows what the plan saw. It was left as it is; the next run looks again.`,
    },
    gone: {
      status: 'put-off',
      code: 'row.gone',
      message: `No ${row} has this id any more. Nothing was written; the next run looks again.`,
    },
    exists: {
      status: 'put-off',
      code: 'row.exists',
      message: `A ${row} with this id is there already and shows something else. It was left as it is.`,
    },
    duplicated: {
      status: 'put-off',
      code: 'row.duplicated',
      message: `More than one ${row} has this id, so none of them was changed. Remove the copies by hand.`,
    },
    ownCells: {
      status: 'held',
      code: 'row.has-own-cells',
      message: `Somebody has written into other columns of this ${row}. It was left as it is; delete it by hand if nobody needs it.`,
    },
    noStatusColumn: {
      status: 'held',
      code: 'target.no-status-column',
      message: `There is no single status ${column} to mark the ${row} in. The ${row} was left as it is.`,
    },
  }) as const satisfies Record<string, Verdict>;
