import { LeadsyncError } from '../../errors.ts';

/** Texts of one row, by column. */
export type Texts = (string | null)[];

/** Runs a statement. @throws LeadsyncError as `raise` does */
export type Ask = (text: string, values?: readonly unknown[]) => Promise<Texts[]>;

export async function attempt<T>(
  ask: Ask,
  isExpected: (code: string) => boolean,
  work: () => Promise<T>,
): Promise<T | LeadsyncError> {
  await ask('savepoint before_attempt');
  try {
    const result = await work();
    await ask('release savepoint before_attempt');
    return result;
  } catch (error) {
    if (!(error instanceof LeadsyncError) || !isExpected(error.code)) throw error;
    await ask('rollback to savepoint before_attempt');
    await ask('release savepoint before_attempt');
    return error;
  }
}
