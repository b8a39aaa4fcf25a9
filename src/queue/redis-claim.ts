import { z } from 'zod';
import { LeadsyncError } from '../lib/errors.ts';
import type { QueueClaim, QueueOwner } from './backend.ts';
import type { RedisClient } from './redis-client.ts';

const claimed = z.object({
  owner: z.string(),
  machine: z.string(),
  database: z.string(),
  since: z.string(),
});

/** The claim of one installation on the keys under a prefix. `key`: no queue uses it; BullMQ's keys have three parts. */
export function redisClaim(client: RedisClient, key: string, place: string): QueueClaim {
  const read = async () => {
    const text = await client.get(key);
    return text === null ? null : claimed.parse(JSON.parse(text));
  };
  return {
    place,
    async renew(by, forMs) {
      const text = JSON.stringify({ ...by, since: new Date().toISOString() });
      if ((await client.set(key, text, 'PX', forMs, 'NX')) === 'OK') return 'new';
      const found = await read();
      if (found !== null && found.owner !== by.owner) throw taken(place, found);
      await client.pexpire(key, forMs);
      return 'known';
    },
    async release(owner) {
      if ((await read())?.owner === owner) await client.del(key);
    },
  };
}

function taken(
  place: string,
  { machine, database, since }: Omit<QueueOwner, 'owner'> & { since: string },
): LeadsyncError {
  return new LeadsyncError(
    'queue.taken',
    `Another installation of leadsync has its jobs in ${place} since ${since}: its worker runs on ${machine}, with the database ${database}. Nothing was started here, and nothing was changed`,
    {
      retry: 'later',
      help: 'Set REDIS_PREFIX to a name of its own, or another database in REDIS_URL. If it has moved to another database: stop the other worker, and start this one a minute later.',
    },
  );
}
