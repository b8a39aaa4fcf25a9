import { LeadsyncError } from '../../errors.ts';

const usualMostBytes = 256 * 1024 * 1024;

/** Memory of a row besides its texts. */
const bytesBeside = 200;

/**
 * Throws `target.too-large` when a query's result exceeds `mostBytes` (default: 256 MiB): nobody with write access to
 * the table may exhaust the memory.
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
  throw new LeadsyncError('target.too-large', `${name} holds more than fits in memory.`, {
    help: 'Move unneeded rows out of the table, or shorten its texts.',
  });
}
