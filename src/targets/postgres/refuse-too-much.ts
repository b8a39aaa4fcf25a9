import { LeadsyncError } from '../../errors.ts';

const usualMostBytes = 256 * 1024 * 1024;

/** What a row takes in the memory beside its texts. */
const bytesBeside = 200;

/**
 * Throws `target.too-large` when what a query gives is more than `mostBytes` (default: 256 MiB). A table is read at once:
 * whoever may write to it must not be able to fill the memory.
 */
export async function refuseTooMuch(
  ask: (text: string, values: readonly unknown[]) => Promise<readonly (readonly (string | null)[])[]>,
  query: string,
  name: string,
  mostBytes = usualMostBytes,
): Promise<void> {
  const size = `select (sum(octet_length(q::text) + $1) > $2)::text from (${query}) q`;
  const [answer] = await ask(size, [bytesBeside, mostBytes]);
  if (answer?.[0] !== 'true') return;
  throw new LeadsyncError('target.too-large', `${name} holds more than can be taken in at once.`, {
    help: 'Move what is not needed out of the table, or shorten its texts.',
  });
}
