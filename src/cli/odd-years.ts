import { followUpField, followUpYears, isImplausible } from '../core/lead/follow-up.ts';
import { counted } from '../core/lead/counted.ts';
import { valuesOfFollowUps } from '../store/follow-ups.ts';
import type { SyncContext } from '../sync/context.ts';

/** Leads whose follow-up is in a year that nobody means: nobody is mailed. One of them, and its row as last read. */
export interface OddYears {
  readonly count: number;
  readonly example: string;
  readonly row: number | null;
}

export async function oddYears({ pool, connection }: SyncContext): Promise<OddYears | null> {
  const mapping = connection.fields.find(({ field }) => field === followUpField);
  if (mapping === undefined || connection.reminders === undefined) return null;
  const dates = await valuesOfFollowUps(pool, connection.name, followUpField, followUpField);
  const odd = dates.filter(({ value }) => isImplausible(value, mapping));
  const [first] = odd;
  if (first === undefined) return null;
  const count = odd.reduce((sum, one) => sum + one.count, 0);
  return { count, example: first.value ?? '', row: first.row };
}

export function describeOddYears({ count, example, row }: OddYears): string {
  const where = row === null ? '' : ` in row ${row}`;
  return `nobody is mailed about ${counted(count, 'lead')} with a follow-up outside of the years ${followUpYears.first} to ${followUpYears.last}, such as ${example}${where}: correct the date`;
}
