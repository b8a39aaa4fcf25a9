import type { Company, Portal } from './portal.ts';

/** Shown when no properties are requested. */
const usual = ['name', 'domain'];
/** Always shown. */
const always = ['createdate', 'hs_lastmodifieddate', 'hs_object_id'];

/** A company as the API shows it: null for empty properties, unknown ones omitted. */
export function showCompany(
  portal: Portal,
  company: Company,
  asked: readonly string[] = usual,
  withHistory: readonly string[] = [],
): object {
  const { id, values, archivedAt } = company;
  const names = [...new Set([...always, ...asked])]
    .filter((name) => portal.property(name) !== undefined)
    .toSorted();
  const histories = withHistory.flatMap((name) => {
    const versions = portal.property(name) && portal.history(company, name);
    return versions === undefined ? [] : [[name, versions] as const];
  });
  return {
    id,
    properties: Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])),
    ...(withHistory.length > 0 && { propertiesWithHistory: Object.fromEntries(histories) }),
    createdAt: values.get('createdate'),
    updatedAt: values.get('hs_lastmodifieddate'),
    archived: archivedAt !== null,
    ...(archivedAt !== null && { archivedAt: new Date(archivedAt).toISOString() }),
  };
}
