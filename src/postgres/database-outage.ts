import { codeOf, LeadsyncError } from '../lib/errors.ts';

/**
 * SQLSTATEs, whole or by their class, that say nothing about the statement (PostgreSQL, Appendix A): the same one may succeed
 * later, when a server is up again, writes again, or a password is put right.
 */
const outageStates: ReadonlySet<string> = new Set([
  '08', // connection
  '25006', // takes no writes: a replica, or a server set read-only
  '25P03', // a transaction whose process was away for too long
  '28', // refused login
  '3D000', // no such database
  '40', // rollback by the server
  '53', // resources
  '55000', // not in the state for it, as while it recovers
  '55P03', // a lock that others hold
  '57', // operator
  '58', // the system below it
]);

const outageErrno: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Codes of LeadsyncErrors with the same meaning. */
const outageCodes: ReadonlySet<string> = new Set(['database.unreachable', 'database.unavailable']);

/** An outage as `database.unavailable` (retry later); any other error as it is. */
export function asOutage(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof LeadsyncError || !isDatabaseOutage(error)) return error;
  return new LeadsyncError('database.unavailable', `the database is unavailable: ${error.message}`, {
    cause: error,
    retry: 'later',
  });
}

/** Whether an error of pg, or of a pool of ours, means that the database was away, so that the same statement may succeed later. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof LeadsyncError) return outageCodes.has(error.code);
  const code = codeOf(error);
  // pg gives the end of a connection no code.
  if (code === null) return error.message.startsWith('Connection terminated');
  // A socket is a file, and gone while its server is.
  const isSocketGone = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
  const isState = code.length === 5 && (outageStates.has(code) || outageStates.has(code.slice(0, 2)));
  return isState || outageErrno.has(code) || isSocketGone;
}
