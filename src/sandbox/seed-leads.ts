import { createLeadId, type IdKind, type SandboxLead } from './lead-table.ts';
import { createRandom, type Random } from './random.ts';
import { awkwardBrands, type NamePool, namePools, seededSegments, seededStages } from './seed-names.ts';

export interface SeedRequest {
  readonly count: number;
  readonly seed: number;
  /** Epoch ms around which follow-ups lie. */
  readonly now: number;
  readonly idKind: IdKind;
}

const minute = 60_000;
const day = 24 * 60 * minute;
const firstCreatedAt = Date.UTC(2024, 0, 1);
const lastCreatedAt = Date.UTC(2025, 11, 31);

/** Oldest first, names unique. The same seed and count repeat all but the follow-ups, which lie around `now`; a quarter has none. */
export function seedLeads(request: SeedRequest): SandboxLead[] {
  const random = createRandom(request.seed, 'leads');
  const names = new Set<string>();
  const step = (lastCreatedAt - firstCreatedAt) / Math.max(1, request.count);
  return Array.from({ length: request.count }, (_, index) => {
    const pool = pickPool(random);
    const [city, region] = random.pick(pool.cities);
    const companyName = uniqueName(companyNameFor(pool, random), city, names);
    const stage = random.pick(seededStages);
    return {
      id: createLeadId(request.idKind, Math.floor(firstCreatedAt + (index + random.float()) * step), random),
      companyName,
      segment: random.pick(seededSegments),
      city,
      region,
      stage,
      nextFollowUpAt: followUpFor(stage, request.now, random),
      ownerEmail: `${random.pick(['anna', 'jonas', 'mehmet', 'sofie'])}@sales.example`,
      employees: 1 + Math.floor(10 ** (random.float() * 4)),
    };
  });
}

function pickPool(random: Random): NamePool {
  let left = random.float() * 100;
  let chosen: NamePool | undefined;
  for (const [percent, pool] of namePools) {
    chosen = pool;
    left -= percent;
    if (left < 0) break;
  }
  if (chosen === undefined) throw new Error('there are no name pools');
  return chosen;
}

function companyNameFor(pool: NamePool, random: Random): string {
  const family = random.pick(pool.families);
  const trade = random.pick(pool.trades);
  const form = random.pick(pool.legalForms);
  const pattern = random.below(100);
  if (pattern < 62) return `${family} ${trade} ${form}`;
  if (pattern < 74) return `${family} & ${random.pick(pool.families)} ${trade} ${form}`;
  if (pattern < 82) return `${family}, ${random.pick(pool.families)} & Partner`;
  if (pattern < 90) return `"${family}" ${trade} ${form}`;
  if (pattern < 96) return `${trade} ${family}, ${form}`;
  return `${random.pick(awkwardBrands)} ${form}`;
}

function uniqueName(wanted: string, city: string, taken: Set<string>): string {
  let name = taken.has(wanted) ? `${wanted} (${city})` : wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted} (${city} ${number})`;
  taken.add(name);
  return name;
}

function followUpFor(stage: string, now: number, random: Random): string | null {
  const closed = stage === 'won' || stage === 'lost';
  const kind = random.float();
  const quarterHour = random.below(40);
  const days = random.below(60);
  if (kind < (closed ? 0.8 : 0.1)) return null;
  const today = Math.floor(now / day) * day;
  const offset = kind < 0.85 ? 1 + days : kind < 0.93 ? 0 : -1 - days;
  return new Date(today + offset * day + 7 * 60 * minute + quarterHour * 15 * minute).toISOString();
}
