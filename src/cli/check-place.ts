import { countKnownPairs } from '../store/pairs.ts';
import { currentPlace, findPlace, keyOf, sharedWith } from '../store/places.ts';
import type { SyncContext } from '../sync/context.ts';
import { type CheckLine, look } from './check-line.ts';

const never = new AbortController().signal;

/** A line when the target is not what was kept in step so far, or is gone. */
export async function checkPlace({ target, connection, pool }: SyncContext): Promise<CheckLine[]> {
  const { name } = connection;
  // What cannot be asked the line before has told.
  const found = (await target.place?.(never).catch(() => null)) ?? null;
  const current = await currentPlace(pool, name);
  if (found === null || current === null) return [];
  const known = await findPlace(pool, name, found);
  if (known?.wasCurrent === true && !found.isThere && (await countKnownPairs(pool, keyOf(known))) > 0) {
    const gone = await look(`${name}: place`, async () => {
      await target.open({ create: false, wasFilled: true }, never);
      return found.address;
    });
    if (!gone.ok) return [gone];
  }
  const other = await sharedWith(pool, { connection: name, identity: found.id });
  const shared =
    other === null
      ? []
      : [`${found.address} is kept in step by the connection ${other} too: give each a place of its own.`];
  const tell = (message: string): CheckLine => ({ name: `${name}: place`, ok: other === null, message });
  if (known?.isCurrent === true) return shared.map(tell);
  const next =
    known?.wasCurrent === true
      ? 'the next sync goes on from where it was left'
      : 'the next sync is its first, unless the other one was moved here';
  return [tell([`${found.address} is another place than ${current.address}: ${next}.`, ...shared].join(' '))];
}
