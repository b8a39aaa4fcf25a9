import type pg from 'pg';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { matchLostCreates, tornWeight } from '../core/merge/match-lost-creates.ts';
import type { Policy } from '../core/merge/policy.ts';
import { nothingSettled, type SettledCreates, settleCreates } from '../core/merge/settle-creates.ts';
import { openIntents } from '../store/intents.ts';
import { basesOf } from '../store/pairs.ts';
import type { Service } from '../store/places.ts';
import type { Run } from '../store/runs.ts';
import { inTurns } from './concurrency.ts';
import { scannedLeadCells, unknownLeads } from '../store/differences.ts';

/** Finds the lead and the row of every unfinished create, and plans the link between them (docs/architecture.md 6). */
export async function findLostCreates(
  db: pg.PoolClient,
  run: Run,
  seen: LiveScan,
  policy: Policy,
  { weight: most, filtered, service }: { weight: number; filtered: boolean; service: Service },
): Promise<SettledCreates> {
  const intents = await openIntents(db, run, seen);
  if (intents.length === 0) return nothingSettled();
  const weight = run.scanIncomplete ? Math.min(most, tornWeight(seen.unlisted())) : most;
  const scan = { weight, startedAt: run.scanStartedAt };
  const matches = await inTurns(matchLostCreates(intents, await unknownLeads(db, run, seen, service), scan));
  const foundIds = [...matches.values()].flatMap((match) => (match.kind === 'found' ? [match.leadId] : []));
  const leads = await scannedLeadCells(db, run, seen, foundIds);
  const bases = await basesOf(db, run.connection, foundIds);
  const loose = [...seen.rows.loose()].filter(({ leadId }) => leadId === null);
  const hasRow = (leadId: string): boolean => seen.hasRow(leadId);
  const facts = { matches, leads, bases, hasRow, loose, scan, filtered };
  const settled = await inTurns(settleCreates(intents, facts, policy));
  seen.lookAt(foundIds);
  return settled;
}
