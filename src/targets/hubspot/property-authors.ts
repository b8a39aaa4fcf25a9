import type { Author, ShownCell } from '../../core/lead/author.ts';
import { sameCell } from '../../core/lead/value.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import { batchesOf } from './batch-sender.ts';
import { cellOf, type CompanyTable } from './company-table.ts';
import { type HubSpotApi, mostWithHistory } from './hubspot-api.ts';
import { HubSpotFault } from './hubspot-http.ts';
import type { PropertyVersion } from './hubspot-replies.ts';

/** The source of values typed in HubSpot's pages; not worth mentioning. */
const byHand = 'CRM_UI';

/** By HubSpot's property history; null when unknown or changed meanwhile. Users whose names the key may not read go by number. */
export async function propertyAuthors(
  api: HubSpotApi,
  table: CompanyTable,
  cells: readonly ShownCell[],
): Promise<(Author | null)[]> {
  const latest = new Map<ShownCell, PropertyVersion>();
  const byRow = Map.groupBy(cells, ({ row }) => String(row));
  for (const ids of batchesOf([...byRow.keys()], mostWithHistory)) {
    const asked = ids.flatMap((id) => byRow.get(id) ?? []);
    const names = new Set(asked.flatMap(({ field }) => table.fields.get(field)?.property.name ?? []));
    const histories = await api.histories(ids, [...names]);
    for (const cell of asked) {
      const mapped = table.fields.get(cell.field);
      const versions = mapped && histories.get(String(cell.row))?.[mapped.property.name];
      const version = versions?.toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))[0];
      if (mapped === undefined || version === undefined) continue;
      if (sameCell(cellOf(version.value, mapped, table.timeZone), cell.shown)) latest.set(cell, version);
    }
  }
  const users = new Set([...latest.values()].flatMap(({ updatedByUserId }) => updatedByUserId ?? []));
  const names = await userNames(api, users);
  return cells.map((cell) => {
    const version = latest.get(cell);
    return version === undefined ? null : authorOf(version, names);
  });
}

function authorOf(version: PropertyVersion, names: ReadonlyMap<string, string>): Author | null {
  const { sourceType, sourceId, updatedByUserId: user, timestamp } = version;
  const at = Date.parse(timestamp);
  const isTyped = sourceType === byHand || !sourceType;
  if (!user && isTyped) return null;
  const by = user ? names.get(user) || `user ${user}` : null;
  const source = { type: visibleText(sourceType ?? '', 60), id: sourceId ? visibleText(sourceId, 60) : null };
  return {
    of: 'value',
    place: 'HubSpot',
    by,
    at: Number.isNaN(at) ? null : new Date(at).toISOString(),
    ...(!isTyped && { source }),
  };
}

async function userNames(api: HubSpotApi, users: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const user of users) {
    try {
      names.set(user, visibleText(await api.userName(user), 100));
    } catch (error) {
      if (!(error instanceof HubSpotFault)) throw error;
      if (error.code === 'target.forbidden') return names;
      // No owner has this number, now or ever.
      if (error.code !== 'target.not-found') throw error;
    }
  }
  return names;
}
