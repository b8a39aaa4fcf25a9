import { idKey } from '../../core/lead/lead.ts';
import type { CompanyListing } from './company-listing.ts';
import { type CompanyTable, leadIdOf, mergedProperty } from './company-table.ts';
import type { ShownCompany } from './hubspot-replies.ts';
import { isMerged, mergedCompanies } from './merged-companies.ts';

/** Deleted companies by lead id, and the record ids merged into them (see `mergedCompanies`). */
export interface RecycleBin {
  readonly leadIds: Set<string>;
  readonly merged: ReadonlySet<number>;
}

/** Looks into the recycle bin of a portal. Throws as `Target.write` does. */
export async function readBin(
  listing: CompanyListing,
  table: CompanyTable,
  signal: AbortSignal,
): Promise<RecycleBin> {
  const keeps = (company: ShownCompany): boolean => leadIdOf(company, table) !== null || isMerged(company);
  const properties = [table.idProperty, mergedProperty];
  const archived = [...(await listing.read('bin', properties, keeps, signal)).values()];
  return {
    leadIds: new Set(archived.flatMap((company) => leadIdOf(company, table) ?? []).map(idKey)),
    merged: new Set(mergedCompanies(archived, table).keys()),
  };
}
