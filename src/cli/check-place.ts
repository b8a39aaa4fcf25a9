import { countKnownPairs } from '../store/pairs.ts';
import { currentPlace, findPlace, keyOf } from '../store/places.ts';
import type { SyncContext } from '../sync/context.ts';
import { placeShared } from '../sync/which-place.ts';
import { type CheckLine, look, never } from './check-line.ts';

/** A line when the target is another place than before, or is gone. */
export async function checkPlace({ target, connection, pool }: SyncContext): Promise<CheckLine[]> {
  const { name } = connection;
  // The previous line reports an inaccessible target.
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
  const [shared] = await placeShared(pool, { connection: name, identity: found.id, address: found.address });
  const told = shared === undefined ? [] : [`${shared.message}.`];
  const tell = (message: string): CheckLine => ({
    name: `${name}: place`,
    ok: shared === undefined,
    message,
    ...(shared !== undefined && { code: shared.code }),
  });
  if (known?.isCurrent === true) return told.map(tell);
  const next =
    known?.wasCurrent === true
      ? 'the next sync goes on from where it was left'
      : 'the next sync is its first, unless the other one was moved here';
  return [
    tell(
      [
        `${found.address} is not ${current.address}, which this connection synced so far: ${next}.`,
        ...told,
      ].join(' '),
    ),
  ];
}
