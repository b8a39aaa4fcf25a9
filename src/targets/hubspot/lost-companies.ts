import { idKey } from '../../core/lead/lead.ts';
import type { MergedRow } from '../../ports/target.ts';
import type { CompanyListing } from './company-listing.ts';
import { type CompanyTable, leadIdOf, mergedProperty, nameProperty } from './company-table.ts';
import type { ShownCompany } from './hubspot-replies.ts';

export function isMerged({ properties }: ShownCompany): boolean {
  return mergedIds(properties[mergedProperty]).length > 0;
}

/** By record id; also of the company that remains, whose place may be the only one stored. */
export function mergedCompanies(
  companies: Iterable<ShownCompany>,
  table: CompanyTable,
): ReadonlyMap<number, MergedRow> {
  const merged = new Map<number, MergedRow>();
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
