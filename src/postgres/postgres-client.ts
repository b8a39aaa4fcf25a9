import pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import { isThisMachine } from '../lib/loopback.ts';

/** Where a database is, and how to log in; a secret is read for each connection. */
export type PostgresUrl = string | { reveal(): string };

export const revealed = (url: PostgresUrl): string => (typeof url === 'string' ? url : url.reveal());

/** pg's events for requests of a password by which whoever asks learns it, or what stands for it. */
const telling = { authenticationCleartextPassword: 'in clear text', authenticationMD5Password: 'as MD5' };

/**
 * A client that gives its password to no server that has not proved to know it already (SCRAM), unless the connection has TLS or
 * stays on this machine; with libpq's `require_auth=scram-sha-256` in the URL, to none at all. Such a server is
 * `database.unreachable`.
 */
export class PostgresClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super(config);
    if (!requiresScram(config) && (this.ssl || isThisMachine(this.host))) return;
    for (const [event, how] of Object.entries(telling)) {
      // Before pg's own, which answers into a connection that is closed by then.
      this.connection.prependListener(event, () => {
        this.connection.stream.destroy(
          new LeadsyncError(
            'database.unreachable',
            `it wants the password ${how}, over a connection without TLS. The password was not sent.`,
            { retry: 'later' },
          ),
        );
      });
    }
  }
}

function requiresScram({ connectionString }: pg.ClientConfig): boolean {
  return URL.parse(connectionString ?? '')?.searchParams.get('require_auth') === 'scram-sha-256';
}
