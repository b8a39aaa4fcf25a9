import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import type { App } from '../app.ts';
import { isWebAddress } from '../config/addresses.ts';
import type { Config, ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { repeat } from '../lib/waiting.ts';
import { isQueueOutage, type QueueClaim } from '../queue/backend.ts';
import { placeOf } from '../store/database.ts';
import {
  type Claim,
  claimDatabase,
  claimMs,
  type Installation,
  otherInDatabase,
  ownerOf,
  releaseDatabase,
} from '../store/keeper.ts';
import { serviceScope } from '../store/services.ts';

/**
 * Claims the database and the queue for this installation, and renews both claims until it is disposed: two installations
 * that share one of them take each other's jobs, and one of them stops in silence. Throws `database.taken` or `queue.taken`;
 * `onTaken`: another installation has come in while this one was cut off for longer than a claim lasts.
 */
export async function claimInstallation(
  app: App,
  onTaken: (fault: LeadsyncError) => void,
): Promise<AsyncDisposable> {
  const { pool, config } = app;
  const database = databaseOf(config);
  const { claim: queue } = await app.queues();
  const owner = await ownerOf(pool);
  /** Also of keys that were exchanged since: another process may still have the one before. */
  const traits = new Set<string>();
  let since: string | null = null;
  const claim = async (): Promise<void> => {
    const own = installationOf(config, queue);
    for (const trait of own.traits) traits.add(trait);
    const found = await queue?.renew({ owner, machine: own.machine, database }, claimMs);
    const claimed = await claimDatabase(pool, { ...own, traits: [...traits] }, found === 'known', since);
    if ('since' in claimed) {
      since = claimed.since;
      return;
    }
    if (found === 'new') await queue?.release(owner);
    throw taken(database, claimed.other);
  };
  await claim();
  const renewing = repeat(claimMs / 4, async () => {
    try {
      await claim();
    } catch (error) {
      // Any other fault is an outage, which others report.
      if (isTaken(error)) onTaken(error);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      await renewing[Symbol.asyncDispose]();
      if (app.outdated !== null) return;
      // Otherwise both claims run out by themselves.
      await Promise.allSettled([releaseDatabase(pool), queue?.release(owner)]);
    },
  };
}

/**
 * Throws `database.taken` or `queue.taken` when a worker of another installation has the database, or the queues, now. A
 * queue that is away is taken for the same one.
 */
export async function assertOwnPlaces(app: App): Promise<void> {
  const { pool, config } = app;
  let queue: QueueClaim | null = null;
  // A command takes no jobs: without REDIS_URL in its shell it is of the same installation all the same.
  let sharesJobs = true;
  if (config.redisUrl !== undefined)
    try {
      ({ claim: queue } = await app.queues());
      sharesJobs = (await queue?.isOf(await ownerOf(pool))) === true;
    } catch (error) {
      if (!isQueueOutage(error)) throw error;
    }
  const other = await otherInDatabase(pool, installationOf(config, queue), sharesJobs);
  if (other !== null) throw taken(databaseOf(config), other);
}

function installationOf({ configured }: Config, queue: QueueClaim | null): Installation {
  return {
    machine: hostname(),
    jobs: queue?.place ?? null,
    connections: configured.map(({ name }) => name),
    traits: configured.flatMap(traitsOf),
    services: configured.map(({ name, leads }) => hash('sha256', `${name}\n${leads.baseUrl}`)),
  };
}

function isTaken(error: unknown): error is LeadsyncError {
  return error instanceof LeadsyncError && ['database.taken', 'queue.taken'].includes(error.code);
}

function databaseOf({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === undefined ? `the bundled one in ${dataDir}` : placeOf(databaseUrl.reveal());
}

/** A path on a disk says little without its machine: every container may have the same. */
function traitsOf({ name, leads, target }: ConnectionConfig): readonly string[] {
  const service = serviceScope(leads.baseUrl, leads.apiKey.reveal());
  const isLocal = target.type === 'workbook' && target.drive === undefined && !isWebAddress(target.path);
  const place = JSON.stringify(isLocal ? [hostname(), target.path] : target);
  return [service, place].map((of) => hash('sha256', `${name}\n${of}`));
}

function taken(database: string, { machine, connections, jobs, since }: Claim): LeadsyncError {
  const where = jobs === null ? 'in this database, too' : `in ${jobs}`;
  return new LeadsyncError(
    'database.taken',
    `Another installation of leadsync works with the database ${database}: its worker runs on ${machine}, with ${connections.join(', ')} and its jobs ${where} (its mark there was made at ${since}, and is renewed while it runs). Nothing was started here, and nothing was changed`,
    {
      retry: 'later',
      help: 'Set DATABASE_URL to a database of its own, or, if both are one installation, give both the same settings (REDIS_URL, connections). If it has moved: stop the other worker, and start this one a minute later.',
    },
  );
}
