import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import { transaction } from '../store/database.ts';
import { acceptedBeside, decideMatch, type Match, matchesToDecide } from '../store/matches.ts';

/**
 * Stores a person's (`by`) decision on matches, on all or none; the next sync carries it out. `isSeen`: whether the person
 * saw what is stored now. Throws `usage.unknown-match`, `usage.match-changed` and `usage.match-taken`, and then changes
 * nothing.
 */
export function decideMatches(
  pool: pg.Pool,
  connections: readonly string[],
  ids: readonly string[],
  { as: state, by }: { readonly as: 'accepted' | 'rejected'; readonly by: string },
  isSeen: (match: Match) => boolean = () => true,
): Promise<readonly Match[]> {
  return transaction(pool, async (db) => {
    const wanted = [...new Set(ids)];
    const numbers = wanted.map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
    const matches = await matchesToDecide(db, connections, numbers);
    const known = new Set(matches.map(({ id }) => id));
    const unknown = wanted.filter((_, nth) => !known.has(numbers[nth] ?? 0));
    if (unknown.length > 0)
      throw new LeadsyncError('usage.unknown-match', `there is no match with the id ${unknown.join(', ')}`, {
        help: 'Nothing was changed. leadsync match lists what the last sync found.',
      });
    if (!matches.every(isSeen))
      throw new LeadsyncError('usage.match-changed', 'the lead or the row has changed meanwhile', {
        help: 'Nothing was changed. Look at both again, then decide.',
      });
    for (const { id } of matches) {
      const other = state === 'accepted' ? await acceptedBeside(db, id) : null;
      if (other !== null) throw taken(id, other);
      await decideMatch(db, id, state, by);
    }
    return matches;
  });
}

function taken(id: number, other: number): LeadsyncError {
  const message = `match ${id} cannot be accepted: its lead or its row is in match ${other}, which is accepted`;
  return new LeadsyncError('usage.match-taken', message, {
    help: `Nothing was changed. leadsync match --reject ${other} takes that back.`,
  });
}
