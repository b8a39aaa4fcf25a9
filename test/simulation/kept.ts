import type { SandboxLead } from '../../src/demo/lead-table.ts';
import type { People } from './people.ts';
import type { SimDatabase } from './sim-database.ts';
import type { PutBack } from './table.ts';
import type { World } from './world.ts';

/** What was there when a night had come to rest. */
export interface Kept {
  readonly night: number;
  readonly leads: readonly SandboxLead[];
  readonly grid: readonly (readonly string[])[];
  /** Puts the table back; null: there was none. */
  readonly putBackTable: PutBack | null;
  /** What both sides showed, by company and field. */
  readonly settled: ReadonlyMap<string, string>;
  /** The last mark that is known to have arrived in the table. */
  readonly mark: string | null;
  /** Puts our database back; null: nobody keeps a dump. */
  readonly putBackState: (() => Promise<void>) | null;
}

export async function keptNow(
  { sandbox, table }: World,
  { night, settled }: People,
  database: SimDatabase,
  hasDump: boolean,
): Promise<Kept> {
  return {
    night,
    leads: sandbox.leads.list(),
    grid: (await table.grid()) ?? [],
    putBackTable: table.keep?.() ?? null,
    settled: new Map(settled),
    mark: await lastMark(database),
    putBackState: hasDump ? await database.keep() : null,
  };
}

async function lastMark({ pool }: SimDatabase): Promise<string | null> {
  const { rows } = await pool.query<{ nonce: string }>(
    `select jsonb_path_query(marks, '$[*] ? (@.written == true).nonce') #>> '{}' as nonce from place_notes
     where connection = 'main' limit 1`,
  );
  return rows[0]?.nonce ?? null;
}
