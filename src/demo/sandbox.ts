import { createServer } from 'node:http';
import { LeadsyncError } from '../lib/errors.ts';
import { LeadTable } from './lead-table.ts';
import { listen } from './listen.ts';
import { defaultOptions, type SandboxBehaviour, type SandboxOptions } from './options.ts';
import { createRandom } from './random.ts';
import { RequestHandler } from './request-handler.ts';
import { seedLeads } from './seed-leads.ts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * A local Leads service that behaves as the API reference says; see `defaultOptions` for what is not given. For demo, sandbox and tests; the sync
 * never uses it. Throws `sandbox.port-unavailable`.
 */
export async function startSandbox(options: Partial<SandboxOptions> = {}) {
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
    const message = `The sandbox cannot listen on ${all.host}, port ${all.port}.`;
    const help = 'Choose another port, or 0 for any that is free.';
    throw new LeadsyncError('sandbox.port-unavailable', message, { help, cause });
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
    get apiKey(): string {
      return handler.options.apiKey;
    },
    leads,
    /** As they are now; not updated later. */
    get stats() {
      return handler.records.stats;
    },
    /** The last 10,000 requests, in the order of their replies. */
    get log() {
      return handler.records.log;
    },
    set: (changes: Partial<SandboxBehaviour>) => handler.set(changes),
    /** Ends all connections at once, also those that still wait for a reply. */
    close,
    [Symbol.asyncDispose]: close,
  };
}
