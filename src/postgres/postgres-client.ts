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

/** Ms: the first pause after a login that failed, and the longest one. */
const firstMs = 250;
const longestMs = 5_000;

/**
 * Lifts the limits that a server, a database or a user may set for sessions and statements: a worker's sessions are idle until work
 * comes, and some of its statements are long. By the catalogue: an older server knows not all of them.
 */
const withoutLimits = {
  text: `select set_config(name, '0', false) from pg_settings where setting <> '0'
    and name in ('idle_session_timeout', 'statement_timeout', 'transaction_timeout', 'lock_timeout')`,
  query_timeout: 10_000,
};

/** The pause (ms) after so many failures in a row; `chance` (0 to 1): processes that lost a server at once return one by one. */
export function pauseAfter(failures: number, chance: number): number {
  const most = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return most / 2 + (most / 2) * chance;
}

/**
 * The clients of one pool. When its server is away, or refuses a login, one of them tries again, after pauses that grow to
 * 5 s; all others fail at once, as the last one did. Every queue and worker asks again and again: without this a refused
 * password is tens of logins a second. `asFault`: what a login that failed is for the callers, which count it as an outage
 * whatever its reason.
 */
export function pacedClient(
  url: PostgresUrl,
  asFault: (cause: unknown) => LeadsyncError,
): typeof PostgresClient {
  let failures = 0;
  /** By `performance.now()`. */
  let pausedUntil = 0;
  let isTrying = false;
  let fault: LeadsyncError | null = null;

  return class extends PostgresClient {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: revealed(url) });
      // The query or the pool reports a broken connection; without a listener the same error would end the process.
      // Before the connect: a server may accept the connection and die at once.
      this.on('error', () => {});
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void): Promise<this> | void {
      if (callback !== undefined) return this.#connectPaced(callback);
      const { promise, resolve, reject } = Promise.withResolvers<this>();
      this.#connectPaced((error) => (error === null ? resolve(this) : reject(error)));
      return promise;
    }

    #open(callback: (cause: Error | null) => void): void {
      super.connect((cause: Error | null) => {
        if (cause !== null) return callback(cause);
        this.query(withoutLimits, (error: Error | null) => callback(error));
      });
    }

    /** Calls back in the turn in which the server answers: a pool listens for errors from then on. */
    #connectPaced(callback: (error: Error | null) => void): void {
      const isTrial = fault !== null;
      if (fault !== null && (isTrying || performance.now() < pausedUntil)) {
        const last = fault;
        queueMicrotask(() => callback(last));
        return;
      }
      isTrying ||= isTrial;
      this.#open((cause: Error | null) => {
        if (isTrial) isTrying = false;
        if (cause === null) {
          [failures, fault] = [0, null];
          return callback(null);
        }
        fault = asFault(cause);
        // Those that were under way at once are one failure.
        if (performance.now() >= pausedUntil) {
          failures += 1;
          pausedUntil = performance.now() + pauseAfter(failures, Math.random());
        }
        callback(fault);
      });
    }
  };
}
