import type { Company, Portal } from './portal.ts';

/** What is shown when no properties are asked for. */
const usual = ['name', 'domain'];
/** What is always shown. */
const always = ['createdate', 'hs_lastmodifieddate', 'hs_object_id'];

/** A company as the API shows it: null for what is not filled, nothing of properties that are not known. */
export function showCompany(portal: Portal, company: Company, asked: readonly string[] = usual): object {
  const { id, values, archivedAt } = company;
  const names = [...new Set([...always, ...asked])]
    .filter((name) => portal.property(name) !== undefined)
    .toSorted();
  return {
    id,
    properties: Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])),
    createdAt: values.get('createdate'),
    updatedAt: values.get('hs_lastmodifieddate'),
    archived: archivedAt !== null,
    ...(archivedAt !== null && { archivedAt: new Date(archivedAt).toISOString() }),
  };
}
