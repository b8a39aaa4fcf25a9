/**
 * A process that uses the embedded Postgres of the folder in its first argument. It prints one JSON line, either
 * `{ url }` or `{ code, message, help }`, and with a URL stays until its standard input ends.
 */
import { LeadsyncError } from '../../src/lib/errors.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';

const [, , folder = ''] = process.argv;
try {
  const server = await startEmbeddedPostgres(folder);
  console.log(JSON.stringify({ url: server.connectionString }));
  process.stdin.once('end', () => void server.close()).resume();
} catch (error) {
  if (!(error instanceof LeadsyncError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message, help: error.help }));
}
