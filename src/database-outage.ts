import { LeadsyncError } from './errors.ts';

/** SQLSTATE classes that say nothing about the statement: connection, rollback by the server, resources, operator. */
const outageClasses: ReadonlySet<string> = new Set(['08', '40', '53', '57']);
/** A transaction whose process was away for too long. */
const silentTransaction = '25P03';
const outageErrno: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);

/** Codes of LeadsyncErrors with the same meaning. */
const outageCodes: ReadonlySet<string> = new Set(['database.unreachable', 'database.unavailable']);

/** Whether an error of pg, or of a pool of ours, means that the database was away, so that the same statement may succeed later. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof LeadsyncError) return outageCodes.has(error.code);
  if (!('code' in error) || typeof error.code !== 'string') {
    // pg gives the end of a connection no code.
    return error.message.startsWith('Connection terminated');
  }
  return (
    outageErrno.has(error.code) ||
    error.code === silentTransaction ||
    (error.code.length === 5 && outageClasses.has(error.code.slice(0, 2)))
  );
}
