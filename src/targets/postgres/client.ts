import pg from 'pg';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError } from '../../errors.ts';
import { visibleText } from '../../visible-text.ts';

/** Per statement: a server that vanished would otherwise be awaited forever. */
const mostMs = 10 * 60_000;

/** A client that is not connected yet. Throws `target.bad-url`. */
export function openClient(url: Secret, name: string): pg.Client {
  const bounds = { connectionTimeoutMillis: 10_000, query_timeout: mostMs };
  try {
    return new pg.Client({ connectionString: url.reveal(), ...bounds });
  } catch (error) {
    const said = error instanceof Error ? visibleText(error.message, 200) : '';
    const message = `The address of the database of ${name} cannot be used: ${said}.`;
    throw new LeadsyncError('target.bad-url', message);
  }
}
