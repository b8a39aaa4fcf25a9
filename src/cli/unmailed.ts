import { counted } from '../core/lead/wording.ts';
import { emailAddresses } from '../core/lead/email-address.ts';
import { followUpField } from '../core/lead/mapping.ts';
import { followUpYears, isImplausible } from '../core/lead/follow-up.ts';
import { valuesOfFollowUps } from '../store/follow-ups.ts';
import type { SyncContext } from '../sync/context.ts';

export type Addressless = NonNullable<Awaited<ReturnType<typeof addressless>>>;

/**
 * Leads with a follow-up whose address column is filled but holds no e-mail address, or something else beside it; the content of one of
 * them, and its row as last read. `fallsBack` of all (`total`) have no address there: `routes` and `to` decide. Null: no such column is
 * configured, or its cells are addresses or empty, and most are addresses.
 */
export async function addressless({ pool, connection }: Pick<SyncContext, 'pool' | 'connection'>) {
  const field = connection.reminders?.rules.toField ?? null;
  if (field === null) return null;
  const values = await valuesOfFollowUps(pool, connection.name, followUpField, field);
  const without = values.filter(({ value }) => emailAddresses(value ?? '').length === 0);
  const unusable = without.filter(({ value }) => (value ?? '').trim() !== '');
  const sum = (some: typeof values): number => some.reduce((all, { count }) => all + count, 0);
  const [total, fallsBack] = [sum(values), sum(without)];
  if (unusable.length === 0 && !isMost({ total, fallsBack })) return null;
  const column = connection.fields.find((mapping) => mapping.field === field)?.column ?? field;
  const [first] = unusable;
  const example = { example: first?.value ?? null, row: first?.row ?? null };
  return { column, count: sum(unusable), ...example, total, fallsBack };
}

export function isMost({ total, fallsBack }: Pick<Addressless, 'total' | 'fallsBack'>): boolean {
  return fallsBack * 2 > total;
}

export function describeAddressless(found: Addressless): string {
  const { column, count, example, row, total, fallsBack } = found;
  const where = row === null ? '' : ` in row ${row}`;
  const leads = count === 1 ? '1 lead has' : `${count} leads have`;
  const such =
    example === null
      ? []
      : [`${leads} no e-mail address in ${column}, such as ${JSON.stringify(example)}${where}`];
  const most = isMost(found)
    ? [`${fallsBack} of ${total} leads with a follow-up name no recipient in ${column}`]
    : [];
  return `${[...such, ...most].join('; ')}: routes and to decide who is mailed`;
}

export type OddYears = NonNullable<Awaited<ReturnType<typeof oddYears>>>;

/** Leads whose follow-up is in a year that nobody means: nobody is mailed. One of them, and its row as last read. */
export async function oddYears({ pool, connection }: Pick<SyncContext, 'pool' | 'connection'>) {
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
