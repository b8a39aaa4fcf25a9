import { LeadsyncError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HubSpotApi } from './hubspot-api.ts';
import { HubSpotFault } from './hubspot-fault.ts';
import type { ShownCompany } from './hubspot-replies.ts';

/** Of what is kept of one list, roughly; it is all taken in at once. */
const usualMostBytes = 256 * 1024 * 1024;

/** What a company takes beside its properties; and what each page counts, so that empty ones have an end as well. */
const bytesBeside = 300;
const bytesOfPage = 1_000;

/** What was read longer ago is read again. */
const mostAgeMs = 10 * 60_000;

/**
 * Reads the list of companies to its end, or of those in the recycle bin. When a page fails, those before it are kept for
 * ten minutes and the next `read` for the same purpose goes on after them: with a limit in the middle a long list would
 * otherwise never end. For another purpose it begins anew: what was written since would look like an edit the other way.
 */
export class CompanyListing {
  readonly #api: HubSpotApi;
  readonly #clock: Clock;
  readonly #archived: boolean;
  readonly #mostBytes: number;
  #begun: Begun | null = null;

  constructor(api: HubSpotApi, clock: Clock, archived: boolean, mostBytes = usualMostBytes) {
    this.#mostBytes = mostBytes;
    this.#api = api;
    this.#clock = clock;
    this.#archived = archived;
  }

  /**
   * Those companies that are to be kept, each once, by record id, with these properties. `purpose` null: none but this.
   * Throws `target.too-large` as well, for a list that is longer than can be taken in.
   */
  async read(
    purpose: string | null,
    properties: readonly string[],
    keeps: (company: ShownCompany) => boolean,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ShownCompany>> {
    const key = JSON.stringify([purpose, properties]);
    const kept = this.#begun;
    const isFresh =
      purpose !== null && kept?.key === key && Math.abs(this.#clock.now() - kept.at) <= mostAgeMs;
    const begun = isFresh ? kept : this.#begin(key);
    try {
      await this.#goOn(begun, properties, keeps, signal);
    } catch (error) {
      if (begun !== kept || !isRefused(error)) throw error;
      // A cursor that is no longer known: from the beginning.
      await this.#goOn(this.#begin(key), properties, keeps, signal);
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
    signal: AbortSignal,
  ): Promise<void> {
    do {
      const position = { archived: this.#archived, after: begun.after };
      const { companies, after } = await this.#api.list(properties, position, signal);
      if (after !== null && begun.cursors.has(after)) {
        this.#begun = null;
        throw repeatedCursor();
      }
      // One that comes twice was changed meanwhile: the later counts.
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
  /** Of what was kept so far, counted roughly. */
  bytes: number;
  readonly cursors: Set<string>;
  readonly companies: Map<string, ShownCompany>;
}

function isRefused(error: unknown): boolean {
  return error instanceof HubSpotFault && error.code === 'target.refused';
}

function tooLong(): LeadsyncError {
  const message = 'HubSpot lists more companies than can be taken in at once. Nothing was written.';
  return new LeadsyncError('target.too-large', message, {
    help: 'Clear lead_id in those that need not be kept in step, or map fewer and shorter properties.',
  });
}

function repeatedCursor(): LeadsyncError {
  const message = 'HubSpot gave a cursor twice while its companies were listed, so the list has no end.';
  return new LeadsyncError('target.unavailable', message, { retry: 'now' });
}
