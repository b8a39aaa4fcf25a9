import { LeadsyncError } from '../../lib/errors.ts';
import { mostWhole } from '../../lib/memory.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HubSpotApi } from './hubspot-api.ts';
import { HubSpotFault } from './hubspot-http.ts';
import type { ShownCompany } from './hubspot-replies.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import type { MergedPlace } from '../../core/lead/table-rows.ts';
import { type CompanyTable, leadIdOf, mergedProperty, nameProperty } from './company-table.ts';

/** Memory of a company besides its properties; also charged per page, so that even empty pages come to an end. */
const bytesBeside = 300;
const bytesOfPage = 1_000;

/** Older pages are read again. */
const mostAgeMs = 10 * 60_000;

/**
 * When a page fails, earlier ones are kept for ten minutes and the next `read` with the same purpose continues after them: rate limits
 * would keep a long list from ever ending. Another purpose starts anew: writes since then would look like edits the other way.
 */
export class CompanyListing {
  readonly #clock: Clock;
  readonly #archived: boolean;
  readonly #mostBytes: number;
  #begun: Begun | null = null;

  constructor(clock: Clock, archived: boolean, mostBytes = mostWhole) {
    this.#mostBytes = mostBytes;
    this.#clock = clock;
    this.#archived = archived;
  }

  /** Each kept company once, by record id. `purpose` null: never continued. Also throws `target.too-large`. */
  async read(
    purpose: string | null,
    properties: readonly string[],
    keeps: (company: ShownCompany) => boolean,
    api: HubSpotApi,
  ): Promise<ReadonlyMap<string, ShownCompany>> {
    const key = JSON.stringify([purpose, properties]);
    const kept = this.#begun;
    const isFresh =
      purpose !== null && kept?.key === key && Math.abs(this.#clock.now() - kept.at) <= mostAgeMs;
    const begun = isFresh ? kept : this.#begin(key);
    try {
      await this.#goOn(begun, properties, keeps, api);
    } catch (error) {
      if (begun !== kept || !isRefused(error)) throw error;
      // The cursor expired: start again.
      await this.#goOn(this.#begin(key), properties, keeps, api);
    }
    const companies = this.#begun?.companies ?? new Map<string, ShownCompany>();
    this.#begun = null;
    return companies;
  }

  #begin(key: string): Begun {
    this.#begun = { key, at: 0, after: null, bytes: 0, cursors: new Set(), companies: new Map() };
    return this.#begun;
  }

  async #goOn(
    begun: Begun,
    properties: readonly string[],
    keeps: (company: ShownCompany) => boolean,
    api: HubSpotApi,
  ): Promise<void> {
    do {
      const position = { archived: this.#archived, after: begun.after };
      const { companies, after } = await api.list(properties, position);
      if (after !== null && begun.cursors.has(after)) {
        this.#begun = null;
        throw repeatedCursor();
      }
      // A company listed twice changed meanwhile: the later one counts.
      for (const company of companies) {
        if (keeps(company)) {
          begun.companies.set(company.id, company);
          begun.bytes += bytesBeside + JSON.stringify(company.properties).length;
        } else begun.companies.delete(company.id);
      }
      begun.bytes += bytesOfPage;
      if (begun.bytes > this.#mostBytes) {
        this.#begun = null;
        throw tooLong();
      }
      begun.after = after;
      begun.at = this.#clock.now();
      if (after !== null) begun.cursors.add(after);
    } while (begun.after !== null);
  }
}

interface Begun {
  readonly key: string;
  /** Epoch ms of the last page; 0 before the first. */
  at: number;
  /** Cursor of the next page; null: the first. */
  after: string | null;
  bytes: number;
  readonly cursors: Set<string>;
  readonly companies: Map<string, ShownCompany>;
}

function isRefused(error: unknown): boolean {
  return error instanceof HubSpotFault && error.code === 'target.refused';
}

function tooLong(): LeadsyncError {
  const message = 'HubSpot lists more companies than fit in memory. Nothing was written.';
  return new LeadsyncError('target.too-large', message, {
    help: 'Clear lead_id in companies that need no sync, or map fewer or shorter properties, or give leadsync more memory (docs/containers.md).',
  });
}

function repeatedCursor(): LeadsyncError {
  const message = 'HubSpot returned the same cursor twice, so its list of companies would never end.';
  return new LeadsyncError('target.unavailable', message, { retry: 'now' });
}

export function isMerged({ properties }: ShownCompany): boolean {
  return mergedIds(properties[mergedProperty]).length > 0;
}

/** By record id; also of the company that remains, whose place may be the only one stored. */
export function mergedCompanies(
  companies: Iterable<ShownCompany>,
  table: CompanyTable,
): ReadonlyMap<number, MergedPlace> {
  const merged = new Map<number, MergedPlace>();
  for (const company of companies) {
    const ids = mergedIds(company.properties[mergedProperty]);
    if (ids.length === 0) continue;
    const stayed = { row: Number(company.id), message: messageOf(company, table) };
    for (const id of [...ids, stayed.row]) merged.set(id, stayed);
  }
  return merged;
}

/** HubSpot separates record ids by semicolons, some followed by a colon and a time. */
function mergedIds(text: string | null | undefined): number[] {
  return (text ?? '').split(/[;,\s]+/).flatMap((each) => {
    const [id = ''] = each.split(':');
    return /^\d{1,15}$/.test(id) ? Number(id) : [];
  });
}

function messageOf(company: ShownCompany, table: CompanyTable): string {
  const { idProperty } = table;
  const name = company.properties[nameProperty];
  const shown = name ? `${JSON.stringify(name)} (record ${company.id})` : company.id;
  const leadId = leadIdOf(company, table);
  const holder = leadId === null ? `has no ${idProperty} now` : `has the ${idProperty} ${leadId} now`;
  const first =
    leadId === null ? `Enter the id of this lead as ${idProperty} of that company, or delete` : 'Delete';
  return `somebody merged the company of this lead into the company ${shown}, which ${holder}. No new company was created, and neither was changed. ${first} this lead in the service if the two are the same; otherwise create a company in HubSpot with the id of this lead as ${idProperty}`;
}

/** Deleted companies by lead id, and the record ids merged into them (see `mergedCompanies`). */
export interface RecycleBin {
  readonly leadIds: Set<string>;
  readonly merged: ReadonlySet<number>;
}

export async function readBin(
  listing: CompanyListing,
  table: CompanyTable,
  api: HubSpotApi,
): Promise<RecycleBin> {
  const keeps = (company: ShownCompany): boolean => leadIdOf(company, table) !== null || isMerged(company);
  const properties = [table.idProperty, mergedProperty];
  const archived = [...(await listing.read('bin', properties, keeps, api)).values()];
  return {
    leadIds: new Set(archived.flatMap((company) => leadIdOf(company, table) ?? []).map(idKey)),
    merged: new Set(mergedCompanies(archived, table).keys()),
  };
}
