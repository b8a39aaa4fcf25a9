import { Secret } from '../../src/config/secret.ts';
import {
  type HubSpotSandbox,
  type HubSpotSandboxOptions,
  startHubSpotSandbox,
} from '../stand-ins/hubspot/hubspot-sandbox.ts';
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
  'new-columns',
  'row-numbers',
  'asides',
  'generations',
];

/** The property of each heading of the suite. None of them is in a fresh portal but the name. */
const properties: Readonly<Record<string, string>> = {
  'Lead ID': 'lead_id',
  Company: 'name',
  Notes: 'my_notes',
  City: 'lead_city',
  'Next follow-up': 'lead_next_follow_up',
  Sync: 'lead_status',
  Paused: 'row_paused',
};
const created = ['Lead ID', 'Company', 'City', 'Next follow-up', 'Sync'];

/** The internal name of the property that a heading of the suite stands for; other names as they are. */
const propertyOf = (heading: string): string => properties[heading] ?? heading;

/** A portal of a stand-in; without limits unless they are given. */
export async function makeHubSpotHarness(options: HubSpotSandboxOptions = {}): Promise<HubSpotHarness> {
  const clock = options.clock ?? { now: () => Date.now(), random: () => Math.random() };
  const sandbox = await startHubSpotSandbox({ limits: null, clock, ...options });
  const { person } = sandbox;
  const targets: HubSpotTarget[] = [];
  let headings: readonly string[] = created;
  /** Record ids as a person has put them in order; new ones come behind. */
  let order: readonly string[] = [];

  const shown = (): { id: string; row: readonly string[] }[] => {
    const place = new Map(order.map((id, index) => [id, index]));
    const placeOf = (id: string): number => place.get(id) ?? order.length;
    return person
      .companies()
      .toSorted((a, b) => placeOf(a.id) - placeOf(b.id))
      .map((company) => ({
        id: company.id,
        row: headings.map((each) => company.properties[propertyOf(each)] ?? ''),
      }));
  };
  const edit = (change: (table: Table) => Table): void => {
    const before = shown();
    const [head = [], ...rows] = change(
      before.length === 0 ? [] : [headings, ...before.map(({ row }) => row)],
    );
    headings = head;
    addProperties(sandbox, head);
    const kept = keptRows(before, rows, head.indexOf('Lead ID'));
    for (const { id } of before) if (![...kept.values()].includes(id)) person.archive(id);
    order = rows.map((row, index) => {
      const filled = Object.fromEntries(
        head.map((heading, column) => [propertyOf(heading), row[column] ?? '']),
      );
      const id = kept.get(index);
      if (id === undefined) return person.create({ ...filled, ...asks(head, row) });
      const old = before.find((each) => each.id === id)?.row ?? [];
      const differing = head.filter((_, column) => row[column] !== old[column]).map(propertyOf);
      if (differing.length > 0)
        person.edit(id, Object.fromEntries(differing.map((name) => [name, filled[name] ?? ''])));
      return id;
    });
  };
  return {
    sandbox,
    target: (changed = {}) => {
      const { fields = contractFields, idColumn = 'Lead ID', statusColumn, pauseColumn, ...rest } = changed;
      const target = createHubSpotTarget({
        apiUrl: sandbox.url,
        accessToken: new Secret(sandbox.token),
        timeZone: 'Europe/Berlin',
        clock,
        ...rest,
        fields: fields.map((field) => ({ ...field, column: propertyOf(field.column) })),
        idColumn: propertyOf(idColumn),
        ...(statusColumn !== undefined && { statusColumn: propertyOf(statusColumn) }),
        ...(pauseColumn !== undefined && { pauseColumn: propertyOf(pauseColumn) }),
      });
      targets.push(target);
      return target;
    },
    edit,
    show: () => {
      const names = new Set(person.properties().map(({ name }) => name));
      if (!names.has('lead_id')) return null;
      return [headings, ...shown().map(({ row }) => row)];
    },
    async [Symbol.asyncDispose]() {
      for (const target of targets) await target[Symbol.asyncDispose]();
      await sandbox.close();
    },
  };
}

/** An admin makes the properties of these headings, and the one by which a company asks for a lead. */
function addProperties({ person }: HubSpotSandbox, head: readonly string[]): void {
  const there = new Set(person.properties().map(({ name }) => name));
  const types = { lead_sync: 'bool', lead_next_follow_up: 'datetime' } as const;
  const fieldTypes = { string: 'text', bool: 'booleancheckbox', datetime: 'date' } as const;
  for (const name of ['lead_sync', ...head.map(propertyOf)]) {
    if (there.has(name)) continue;
    const type = name === 'lead_sync' || name === 'lead_next_follow_up' ? types[name] : 'string';
    person.addProperty({ name, type, fieldType: fieldTypes[type], hasUniqueValue: name === 'lead_id' });
  }
}

/** By index of the rows that stay: the same array, else the same id, else a row without id in the same place. */
function keptRows(
  before: readonly { readonly id: string; readonly row: readonly string[] }[],
  rows: Table,
  idColumn: number,
): ReadonlyMap<number, string> {
  const kept = new Map<number, string>();
  const left = new Map(before.map(({ id, row }, index) => [id, { row, index }]));
  const keep = (index: number, fits: (old: { row: readonly string[]; index: number }) => boolean): void => {
    const found = kept.has(index) ? undefined : [...left].find(([, old]) => fits(old));
    if (found === undefined) return;
    kept.set(index, found[0]);
    left.delete(found[0]);
  };
  const idOf = (row: readonly string[] | undefined): string => row?.[idColumn] ?? '';
  for (const [index, row] of rows.entries()) keep(index, (old) => old.row === row);
  for (const [index, row] of rows.entries())
    keep(index, (old) => idOf(row) !== '' && idOf(old.row) === idOf(row));
  for (const index of rows.keys()) keep(index, (old) => old.index === index);
  return kept;
}

/** A new company without id that has something of ours asks for a lead. */
function asks(head: readonly string[], row: readonly string[]): Record<string, string> {
  const ours = head.flatMap((heading, column) =>
    ['Notes', 'Sync', 'Paused'].includes(heading) ? [] : (row[column] ?? ''),
  );
  return row[head.indexOf('Lead ID')] === '' && ours.some((text) => text !== '') ? { lead_sync: 'true' } : {};
}
