import { codeOf, LeadsyncError } from './errors.ts';

/** SQLSTATE classes that say nothing about the statement: connection, rollback by the server, resources, operator. */
const outageClasses: ReadonlySet<string> = new Set(['08', '40', '53', '57']);
/** A transaction whose process was away for too long. */
const silentTransaction = '25P03';
const outageErrno: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);

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
  const isOfClass = code.length === 5 && outageClasses.has(code.slice(0, 2));
  // A socket is a file, and gone while its server is.
  const isSocketGone = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
  return isOfClass || outageErrno.has(code) || isSocketGone || code === silentTransaction;
}
