import { createLeadId, type IdKind, type SandboxLead } from './lead-table.ts';
import { createRandom, type Random } from './random.ts';

export interface NamePool {
  readonly cities: List<readonly [name: string, region: string]>;
  readonly families: List<string>;
  readonly trades: List<string>;
  readonly legalForms: List<string>;
}

type List<T> = readonly [T, ...T[]];

function list(text: string): List<string> {
  return text.trim().split(/,\s+/) as [string, ...string[]];
}

/** The last word of each is the code of its region. */
function places(text: string): NamePool['cities'] {
  const [first, ...others] = list(text);
  const split = (place: string) =>
    [place.slice(0, place.lastIndexOf(' ')), place.slice(place.lastIndexOf(' ') + 1)] as const;
  return [split(first), ...others.map(split)];
}

export const namePools: List<readonly [percent: number, pool: NamePool]> = [
  [
    60,
    {
      cities: places(`
        Berlin BE, Hamburg HH, München BY, Nürnberg BY, Würzburg BY, Köln NW, Düsseldorf NW,
        Münster NW, Frankfurt am Main HE, Stuttgart BW, Tübingen BW, Leipzig SN, Görlitz SN,
        Hannover NI, Göttingen NI, Halle (Saale) ST, Erfurt TH, Saarbrücken SL, Lübeck SH,
        Rostock MV, Wien AT-9, Zürich CH-ZH`),
      families: list(`
        Müller, Schäfer, Köhler, Jäger, Böhm, Weiß, Groß, Krüger, Schröder, Becker, Hoffmann,
        Richter, Lindner, Vogel, Petersen, Brandt, Öztürk, Yılmaz, Nowak, von Arnim`),
      trades: list(`
        Maschinenbau, Präzisionsteile, Gebäudetechnik, Logistik, Bäckerei, Möbelwerk,
        Elektrotechnik, Kälte & Klima, Medizintechnik, Spedition, Holzbau, Softwarehaus,
        Brauerei, Gartenbau, Werkzeuge`),
      legalForms: list('GmbH, GmbH & Co. KG, AG, KG, UG (haftungsbeschränkt), e.K., OHG, SE'),
    },
  ],
  [
    20,
    {
      cities: places(`
        Austin TX, Boston MA, Portland OR, Denver CO, St. Louis MO, Raleigh NC, Toronto ON,
        London ENG, King's Lynn ENG, Edinburgh SCT, Galway G`),
      families: list(`
        O'Brien, D'Angelo, Whitaker, Hawthorne, McAllister, Okafor, Nguyen, Ramirez, St. Clair,
        Pemberton`),
      trades: list(`
        Analytics, Robotics, Freight, Dental Supply, Roofing, Brewing, Biosystems, Data Services,
        Outdoor Gear, Insurance Brokers`),
      legalForms: list('Inc., LLC, Ltd, PLC, Co., Corp.'),
    },
  ],
  [
    20,
    {
      cities: places(`
        Lyon ARA, Saint-Étienne ARA, Bilbao PV, A Coruña GA, Torino TO, Łódź LD, Kraków MA,
        Malmö M, Århus 82, Utrecht UT, 's-Hertogenbosch NB, São Paulo SP, İzmir 35, Brno JM`),
      families: list(`
        Lefèvre, Núñez, Østergaard, Åkesson, Wiśniewski, Dvořák, D'Amico, van der Meer,
        Gonçalves, Çelik`),
      trades: list(`
        Industrie, Transport, Foods, Textil, Solar, Maritime, Design Studio, Automation, Pharma,
        Ceramics`),
      legalForms: list('SARL, S.A., S.r.l., Sp. z o.o., AB, A/S, B.V., Ltda., A.Ş., s.r.o.'),
    },
  ],
];

const awkwardBrands = list(`
  =mc Labs, +Plus Energie, @home Pflegedienst, -20° Kühlhaus, 0815 Lagerlogistik,
  007 Security, 1e5 Ventures, 10/12 Architekten, TRUE North Coaching, 株式会社 さくら,
  Rock & Röll 🎸 Events`);

const seededSegments = list(`
  Manufacturing, Software, Healthcare, Logistics, Retail, Energy, Construction,
  Hospitality, Financial services, Public sector`);

const seededStages = list('new, contacted, qualified, proposal, negotiation, won, lost');

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
  const [, pool] = namePools.find(([percent]) => (left -= percent) < 0) ?? namePools[0];
  return pool;
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
