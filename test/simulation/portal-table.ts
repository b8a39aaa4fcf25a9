import { createHash } from 'node:crypto';
import { readInstant } from '../../src/core/lead/instant.ts';
import type { HubSpotSandbox } from '../stand-ins/hubspot/hubspot-sandbox.ts';
import { pauseHeading } from './paused-rows.ts';
import type { PutBack, Table } from './table.ts';
import { columns, fieldNames } from './tokens.ts';

/** The property of a portal in which a field is kept, as the configuration has it unless told otherwise. */
export function propertyOf(field: string): string {
  return properties.get(field) ?? field;
}

const properties: ReadonlyMap<string, string> = new Map([
  ['companyName', 'name'],
  ['segment', 'lead_segment'],
  ['city', 'city'],
  ['region', 'state'],
  ['stage', 'lead_stage'],
  ['nextFollowUpAt', 'lead_next_follow_up'],
]);
export const statusProperty = 'lead_sync_status';
export const pauseProperty = 'lead_pause';

/**
 * The companies of a portal that are leads, or are to become some, as rows. Records are known again by identity, so `write`
 * does to the portal what was done to the arrays that `grid` gave last.
 */
export class PortalTable implements Table {
  /** Before that there are no properties to fill in. */
  isMade = false;
  readonly #sandbox: HubSpotSandbox;
  readonly #isFollowUpText: boolean;
  readonly #onType: (text: string) => void;
  /** Whether a record that is deleted goes for good, and not into the recycle bin. */
  readonly #isPurged: () => boolean;
  readonly #trims: boolean;
  readonly #headings: readonly (readonly [heading: string, property: string])[];
  #given: readonly string[][] = [];
  #ids: ReadonlyMap<readonly string[], string> = new Map();
  #shown: ReadonlyMap<readonly string[], readonly string[]> = new Map();

  constructor(
    sandbox: HubSpotSandbox,
    settings: {
      readonly hasStatus: boolean;
      readonly hasPause: boolean;
      readonly isFollowUpText: boolean;
      readonly trims: boolean;
    },
    isPurged: () => boolean,
    onType: (text: string) => void,
  ) {
    this.#sandbox = sandbox;
    this.#isFollowUpText = settings.isFollowUpText;
    this.#isPurged = isPurged;
    this.#trims = settings.trims;
    this.#onType = onType;
    this.#headings = [
      ['Lead ID', 'lead_id'],
      ...fieldNames.map((field) => [columns[field], propertyOf(field)] as const),
      ...(settings.hasStatus ? [['Status', statusProperty] as const] : []),
      ...(settings.hasPause ? [[pauseHeading, pauseProperty] as const] : []),
    ];
  }

  grid(): Promise<string[][] | null> {
    if (!this.isMade) return Promise.resolve(null);
    const companies = this.#sandbox.person
      .companies()
      .filter(({ properties: values }) => (values['lead_id'] ?? '') !== '' || values['lead_sync'] === 'true');
    const records = companies.map(({ properties: values }) =>
      this.#headings.map(([, property]) => values[property] ?? ''),
    );
    this.#given = records;
    this.#ids = new Map(records.map((record, index) => [record, companies[index]?.id ?? '']));
    this.#shown = new Map(records.map((record) => [record, [...record]]));
    return Promise.resolve([this.#headings.map(([heading]) => heading), ...records]);
  }

  numberOf(index: number): number {
    return Number(this.#ids.get(this.#given[index] ?? []) ?? index);
  }

  takes(field: string, text: string): boolean {
    return (
      field !== 'nextFollowUpAt' || this.#isFollowUpText || text === '' || readInstant(text, 'UTC') !== null
    );
  }

  write([, ...records]: readonly (readonly string[])[]): Promise<void> {
    const { person } = this.#sandbox;
    for (const record of this.#given) {
      if (records.includes(record)) continue;
      const id = this.#ids.get(record) ?? '';
      if (this.#isPurged()) person.purge(id);
      else person.archive(id);
    }
    for (const record of records) {
      const id = this.#ids.get(record);
      const shown = this.#shown.get(record) ?? [];
      const typed = this.#headings.flatMap(([heading, property], column): [string, string][] => {
        const text = record[column] ?? '';
        const isOurs = heading === 'Lead ID' || heading === 'Status';
        if (text === (shown[column] ?? '') || isOurs) return [];
        this.#onType(text);
        return [[property, this.#stored(heading, text)]];
      });
      if (id !== undefined && typed.length > 0) person.edit(id, Object.fromEntries(typed));
      if (id === undefined && record.some((text) => text !== ''))
        person.create({ ...Object.fromEntries(typed), lead_sync: 'true' });
    }
    return Promise.resolve();
  }

  join(winner: readonly string[], loser: readonly string[]): void {
    this.#sandbox.person.merge(this.#ids.get(winner) ?? '', this.#ids.get(loser) ?? '');
  }

  /** A list that was exported is imported again: records are found by their number, and what is empty in it is left alone. */
  keep(): PutBack | null {
    if (!this.isMade) return null;
    const { person } = this.#sandbox;
    const list = person
      .companies()
      .filter(({ properties: { lead_id: id = '' } }) => id !== '' && id !== null);
    const listed = fieldNames.map(propertyOf);
    return () => {
      const there = new Map(person.companies().map(({ id, properties }) => [id, properties]));
      for (const { id, properties: before } of list) {
        const now = there.get(id);
        const values = listed.flatMap((name): [string, string][] => {
          const value = before[name] ?? '';
          return value === '' || value === now?.[name] ? [] : [[name, value]];
        });
        if (now !== undefined && values.length > 0) person.edit(id, Object.fromEntries(values));
      }
      return false;
    };
  }

  /** Counts what was written, too, though it changed nothing; but what a portal trims is tried again each night. */
  digest(): string {
    const writes = this.#sandbox.requests.filter(
      ({ kind, status }) =>
        !this.#trims && (kind === 'update' || kind === 'upsert' || kind === 'archive') && status < 300,
    );
    const shown = JSON.stringify(
      this.#sandbox.person
        .companies()
        .map(({ properties: values }) => this.#headings.map(([, name]) => values[name])),
    );
    return createHash('sha1').update(`${writes.length} ${shown}`).digest('hex');
  }

  /** People pick a moment from a calendar. */
  #stored(heading: string, text: string): string {
    if (heading !== columns.nextFollowUpAt || this.#isFollowUpText) return text;
    return text === '' ? '' : (readInstant(text, 'UTC') ?? text);
  }
}
