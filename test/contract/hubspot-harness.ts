import { Secret } from '../../src/config/secret.ts';
import {
  type HubSpotSandbox,
  type HubSpotSandboxOptions,
  startHubSpotSandbox,
} from '../../src/sandbox/hubspot/hubspot-sandbox.ts';
import {
  createHubSpotTarget,
  type HubSpotOptions,
  type HubSpotTarget,
} from '../../src/targets/hubspot/hubspot-target.ts';
import { contractFields, type Inability, type LocalHarness, type Table } from './target-harness.ts';

export interface HubSpotHarness extends LocalHarness {
  readonly sandbox: HubSpotSandbox;
  /** Columns are named as in the suite's table, or as properties. */
  target(options?: Partial<HubSpotOptions>): HubSpotTarget;
}

/** A company's properties have fixed names and types, and a company is no row of a sheet. */
export const hubspotCannot: readonly Inability[] = [
  'loose-headings',
  'double-headings',
  'headings-without-id',
  'copies',
  'free-text-dates',
  'own-cells-emptied',
  'row-numbers',
];

/** The property of each heading of the suite. None of them is in a fresh portal but the name. */
const properties: Readonly<Record<string, string>> = {
  'Lead ID': 'lead_id',
  Company: 'name',
  Notes: 'my_notes',
  City: 'lead_city',
  'Next follow-up': 'lead_next_follow_up',
  Sync: 'lead_status',
};
const created = ['Lead ID', 'Company', 'City', 'Next follow-up', 'Sync'];

/** The internal name of the property that a heading of the suite stands for; other names as they are. */
export const propertyOf = (heading: string): string => properties[heading] ?? heading;

/** A portal of a stand-in; without limits unless they are given. */
export async function makeHubSpotHarness(options: HubSpotSandboxOptions = {}): Promise<HubSpotHarness> {
  const clock = options.clock ?? { now: () => Date.now(), random: () => Math.random() };
  const sandbox = await startHubSpotSandbox({ limits: null, clock, ...options });
  const { person } = sandbox;
  const targets: HubSpotTarget[] = [];
  let headings: readonly string[] = created;
  /** Record ids as a person has put them in order; new ones come behind. */
  let order: readonly string[] = [];

  const has = (name: string): boolean => {
    const id = order[0];
    const shown = person.companies().find((company) => company.id === id);
    return shown === undefined ? known.has(name) : Object.hasOwn(shown.properties, name);
  };
  const known = new Set(['name']);

  const rows = (): { id: string; row: readonly string[] }[] => {
    const place = new Map(order.map((id, index) => [id, index]));
    return person
      .companies()
      .toSorted((a, b) => (place.get(a.id) ?? order.length) - (place.get(b.id) ?? order.length))
      .map(({ id, properties: shown }) => ({ id, row: headings.map((heading) => shown[propertyOf(heading)] ?? '') }));
  };
  throw new Error(`${targets.length} ${has('x')} ${rows().length}`);
}
