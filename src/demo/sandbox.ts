import { createServer } from 'node:http';
import { LeadsyncError } from '../lib/errors.ts';
import { LeadTable } from './lead-table.ts';
import { listen } from './listen.ts';
import { defaultOptions, type SandboxBehaviour, type SandboxOptions } from './options.ts';
import { createRandom } from './random.ts';
import { type LogEntry, type SandboxStats, RequestHandler } from './request-handler.ts';
import { seedLeads } from './seed-leads.ts';

/** A local Leads service that behaves as the API reference says. For demo, sandbox and tests; the sync never uses it. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  readonly leads: LeadTable;
  /** As they are now; not updated later. */
  readonly stats: SandboxStats;
  /** The last 10,000 requests, in the order of their replies. */
  readonly log: readonly LogEntry[];
  set(changes: Partial<SandboxBehaviour>): void;
  /** Ends all connections at once, also those that still wait for a reply. */
  close(): Promise<void>;
}

/** Starts a sandbox; see `defaultOptions` for what is not given. Throws `sandbox.port-unavailable`. */
export async function startSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const all: SandboxOptions = { ...defaultOptions, ...options };
  const random = createRandom(all.seed, 'service');
  const apiKey = all.apiKey ?? `sandbox-key-${Math.floor(random.float() * 2 ** 32).toString(36)}`;
  const seeded = seedLeads({
    count: all.leads,
    seed: all.seed,
    now: all.now ?? all.clock.now(),
    idKind: all.idKind,
  });
  const leads = new LeadTable(seeded, { seed: all.seed, idKind: all.idKind, clock: all.clock });
  const handler = new RequestHandler(
    { table: leads, options: { ...all, apiKey }, random, clock: all.clock },
    all.seed,
  );

  const stopped = new AbortController();
  // Above any client's idle time, so that no request meets a connection that is being closed.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    handler.handle(request, response, stopped.signal).catch((error: unknown) => {
      // Of no effect when the connection is gone; otherwise a bug of the sandbox, to be seen.
      if (!response.headersSent) response.writeHead(500).end(`The sandbox failed: ${String(error)}`);
    });
  });
  const port = await listen(server, all.port, all.host).catch((cause: unknown) => {
    throw unavailable(all.host, all.port, cause);
  });

  const close = async (): Promise<void> => {
    stopped.abort();
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://${all.host.includes(':') ? `[${all.host}]` : all.host}:${port}`,
    get apiKey() {
      return handler.options.apiKey;
    },
    leads,
    get stats() {
      return handler.records.stats;
    },
    get log() {
      return handler.records.log;
    },
    set: (changes) => handler.set(changes),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function unavailable(host: string, port: number, cause: unknown): LeadsyncError {
  return new LeadsyncError(
    'sandbox.port-unavailable',
    `The sandbox cannot listen on ${host}, port ${port}.`,
    {
      help: 'Choose another port, or 0 for any that is free.',
      cause,
    },
  );
}
