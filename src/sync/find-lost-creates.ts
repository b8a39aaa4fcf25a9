import type pg from 'pg';
import type { LooseRow } from '../core/merge/difference.ts';
import { matchLostCreates, tornWeight } from '../core/merge/match-lost-creates.ts';
import type { Policy } from '../core/merge/policy.ts';
import { nothingSettled, type SettledCreates, settleCreates } from '../core/merge/settle-creates.ts';
import { openIntents } from '../store/intents.ts';
import { basesOf, countUnlisted } from '../store/pairs.ts';
import type { Service } from '../store/places.ts';
import type { Run } from '../store/runs.ts';
import { inTurns } from './concurrency.ts';
import { idsInRows, looseRows, scannedLeadCells, unknownLeads } from '../store/differences.ts';

/** Finds the lead and the row of every unfinished create, and plans the link between them (docs/architecture.md 6). */
export async function findLostCreates(
  pool: pg.Pool,
  db: pg.PoolClient,
  run: Run,
  policy: Policy,
  { weight: most, filtered, service }: { weight: number; filtered: boolean; service: Service },
): Promise<SettledCreates> {
  const intents = await openIntents(db, run);
  if (intents.length === 0) return nothingSettled(most);
  const weight = run.scanIncomplete ? Math.min(most, tornWeight(await countUnlisted(db, run))) : most;
  const scan = { weight, startedAt: run.scanStartedAt };
  const matches = await inTurns(matchLostCreates(intents, await unknownLeads(db, run, service), scan));
  const foundIds = [...matches.values()].flatMap((match) => (match.kind === 'found' ? [match.leadId] : []));
  const leads = await scannedLeadCells(db, run.id, foundIds);
  const bases = await basesOf(db, run.connection, foundIds);
  const inRows = await idsInRows(db, run.id, foundIds);
  const loose: LooseRow[] = [];
  for await (const row of looseRows(pool, run)) if (row.leadId === null) loose.push(row);
  const hasRow = (leadId: string): boolean => inRows.has(leadId);
  const facts = { matches, leads, bases, hasRow, loose, scan, filtered };
  return inTurns(settleCreates(intents, facts, policy));
}
