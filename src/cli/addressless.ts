import { isEmailAddress } from '../core/lead/email-address.ts';
import { followUpField } from '../reminders/plan/plan-reminders.ts';
import { valuesOfFollowUps } from '../store/pairs.ts';
import type { SyncContext } from '../sync/context.ts';

/** Leads with a follow-up whose address column is filled but holds no e-mail address. */
export interface Addressless {
  readonly column: string;
  readonly count: number;
  /** The content of one of them, and its row as last read. */
  readonly example: string;
  readonly row: number | null;
}

/** Null: none, or no such column is configured. Their mails go to `routes` and `to`. */
export async function addressless({ pool, connection }: SyncContext): Promise<Addressless | null> {
  const field = connection.reminders?.rules.toField ?? null;
  if (field === null) return null;
  const values = await valuesOfFollowUps(pool, connection.name, followUpField, field);
  const unusable = values.filter(({ value }) => value.trim() !== '' && !isEmailAddress(value.trim()));
  const [first] = unusable;
  if (first === undefined) return null;
  const column = connection.fields.find((mapping) => mapping.field === field)?.column ?? field;
  const count = unusable.reduce((sum, one) => sum + one.count, 0);
  return { column, count, example: first.value, row: first.row };
}

/** For people, in one line. */
export function describeAddressless({ column, count, example, row }: Addressless): string {
  const where = row === null ? '' : ` in row ${row}`;
  const leads = count === 1 ? '1 lead has' : `${count} leads have`;
  return `${leads} no e-mail address in ${column}, such as ${JSON.stringify(example)}${where}: routes and to decide who is mailed`;
}
