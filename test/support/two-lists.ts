import { createRandom, type Random } from '../../src/demo/random.ts';
import { type NamePool, namePools } from '../../src/demo/seed-leads.ts';

/** A company as one of two lists has it. `company`: which one it is, whatever is written. */
export interface Listed {
  readonly company: number;
  readonly companyName: string;
  readonly city: string;
}

/**
 * Two lists of made-up companies that were kept by different people: two thirds of each list are in the other as well, one in
 * twenty stands twice, and what is written differs in legal forms, accents, case, typos, order, and cities. No two companies
 * have the same name, the legal form aside, in the same city.
 */
export function twoLists(
  size: number,
  seed: number,
): { readonly leads: readonly Listed[]; readonly rows: readonly Listed[] } {
  const random = createRandom(seed, 'two lists');
  const known = new Set<string>();
  const companies = Array.from({ length: Math.ceil((size * 4) / 3) }, (_, company) => {
    for (;;) {
      const made = makeCompany(random, size);
      const key = `${made.name} ${made.city}`.toLowerCase();
      if (known.has(key)) continue;
      known.add(key);
      return { company, ...made };
    }
  });
  const third = Math.floor(companies.length / 4);
  const list = (of: readonly Company[]): Listed[] =>
    of.flatMap((one) =>
      random.float() < 0.05 ? [write(one, random), write(one, random)] : [write(one, random)],
    );
  return {
    leads: list(companies.slice(0, 3 * third)).slice(0, size),
    rows: shuffled(list(companies.slice(third)), random).slice(0, size),
  };
}

interface Company {
  readonly company: number;
  readonly name: string;
  readonly legalForm: string;
  readonly legalForms: NamePool['legalForms'];
  readonly city: string;
}

function makeCompany(random: Random, size: number): Omit<Company, 'company'> {
  const draw = random.float() * 100;
  const [[, first], [, second] = [0, undefined], [, third] = [0, undefined]] = namePools;
  const pool = draw < 60 ? first : draw < 80 ? second : third;
  if (pool === undefined) throw new Error('there are no name pools');
  const [city] = random.pick(pool.cities);
  // A few families have most companies, and most families one or two.
  const family = random.float() < 0.4 ? random.pick(pool.families) : surname(random, size);
  const trade = random.pick(pool.trades);
  const name = random.float() < 0.15 ? family : `${family} ${trade}`;
  return { name, city, legalForm: random.pick(pool.legalForms), legalForms: pool.legalForms };
}

const beginnings = [
  'Bar',
  'Kel',
  'Lom',
  'Ster',
  'Vin',
  'Hol',
  'Gra',
  'Nor',
  'Tal',
  'Wes',
  'Zim',
  'Dre',
  'Fal',
  'Mor',
] as const;
const middles = ['ber', 'den', 'len', 'mar', 'nik', 'ro', 'sel', 'ti', 'vo', 'za', ''] as const;
const ends = ['mann', 'berg', 'er', 'ski', 'son', 'hof', 'ini', 'ard', 'ow', 'stein', 'ley', 'aux'] as const;

function surname(random: Random, size: number): string {
  const more = size > 5_000 ? random.pick(middles) : '';
  return random.pick(beginnings) + random.pick(middles) + more + random.pick(ends);
}

/** As one person writes it. */
function write({ company, name, legalForm, legalForms, city }: Company, random: Random): Listed {
  const chance = (of: number): boolean => random.float() < of;
  let written = name;
  if (chance(0.12)) written = misspelled(written, random);
  if (chance(0.1)) written = withoutAccents(written, random);
  if (chance(0.04)) written = written.split(' ').toReversed().join(' ');
  const form = random.float();
  if (form < 0.65) written = `${written} ${legalForm}`;
  else if (form < 0.7) written = `${written} ${random.pick(legalForms)}`;
  if (chance(0.08)) written = written.toUpperCase();
  else if (chance(0.05)) written = written.toLowerCase();
  if (chance(0.04)) written = `${written} ${city}`;
  let place = city;
  if (chance(0.08)) place = '';
  else if (chance(0.06)) place = withoutAccents(city, random);
  else if (chance(0.03)) place = misspelled(city, random);
  return { company, companyName: written, city: place };
}

function misspelled(text: string, random: Random): string {
  const at = 1 + random.below(Math.max(1, text.length - 2));
  const kind = random.below(4);
  if (kind === 0) return text.slice(0, at) + text.slice(at + 1);
  if (kind === 1) return text.slice(0, at) + (text[at] ?? '') + text.slice(at);
  if (kind === 2) return text.slice(0, at) + random.pick(['e', 'a', 'n', 'r', 't']) + text.slice(at + 1);
  return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2);
}

function withoutAccents(text: string, random: Random): string {
  if (random.float() < 0.5)
    return text.replaceAll('ä', 'ae').replaceAll('ö', 'oe').replaceAll('ü', 'ue').replaceAll('ß', 'ss');
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '');
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  for (let at = left.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    const [one, two] = [left[at], left[other]];
    if (one !== undefined && two !== undefined) [left[at], left[other]] = [two, one];
  }
  return left;
}

/** How the matches of a plan stand to the truth. */
export interface Judged {
  readonly linked: { readonly right: number; readonly wrong: number };
  readonly proposed: { readonly right: number; readonly wrong: number };
  /** Companies in both lists, and of how many of them something was linked, proposed or listed. */
  readonly companies: { readonly inBoth: number; readonly found: number; readonly listed: number };
}

interface MatchAction {
  readonly kind: string;
  readonly reason: string;
  readonly leadId?: string | null;
  readonly row?: number | null;
}

/** Judges a plan. `companyOf`: of a lead's id and of a row's number. */
export function judgeMatches(
  actions: readonly MatchAction[],
  leads: ReadonlyMap<string, number>,
  rows: ReadonlyMap<number, number>,
): Judged {
  const inRows = new Set(rows.values());
  const inBoth = new Set([...leads.values()].filter((company) => inRows.has(company)));
  const counts = { linked: { right: 0, wrong: 0 }, proposed: { right: 0, wrong: 0 } };
  const [found, listed] = [new Set<number>(), new Set<number>()];
  for (const { kind, reason, leadId, row } of actions) {
    const [one, other] = [leads.get(leadId ?? ''), rows.get(row ?? 0)];
    const isProposed = kind === 'hold' && reason.startsWith('match.proposed');
    if (kind === 'link' || isProposed) {
      const isRight = one !== undefined && one === other;
      counts[kind === 'link' ? 'linked' : 'proposed'][isRight ? 'right' : 'wrong'] += 1;
      if (isRight) found.add(one);
    } else if (reason.startsWith('match.ambiguous')) listed.add(one ?? other ?? -1);
  }
  const held = [...inBoth].filter((company) => found.has(company) || listed.has(company));
  return {
    ...counts,
    companies: {
      inBoth: inBoth.size,
      found: [...inBoth].filter((company) => found.has(company)).length,
      listed: held.length,
    },
  };
}
