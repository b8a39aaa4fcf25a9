import type { Random } from '../../src/demo/random.ts';
import { type DavSettings, davServer } from './dav-folder.ts';
import { type GraphSettings, graphServer } from './graph-folder.ts';
import type { OnlineTable } from './online-table.ts';
import { openPortal, type PortalSettings } from './portal.ts';
import { ServedFile } from './served-file.ts';
import type { SimClock } from './sim-clock.ts';
import { Spreadsheet, type SpreadsheetSettings } from './spreadsheet.ts';

/** The one that is not null is the table that a service keeps. */
export interface OnlineSettings {
  readonly spreadsheet: SpreadsheetSettings | null;
  readonly portal: PortalSettings | null;
  readonly dav: DavSettings | null;
  readonly graph: GraphSettings | null;
}

/** Null: the table is a local file. `folder`: for files of its own. */
export async function openOnline(
  {
    spreadsheet,
    portal,
    dav,
    graph,
    clock,
    random,
  }: OnlineSettings & { readonly clock: SimClock; readonly random: Random },
  columns: { readonly idColumn: string; readonly statusColumn?: string; readonly pauseColumn?: string },
  folder: string,
): Promise<OnlineTable | null> {
  const has = { hasStatus: columns.statusColumn !== undefined, hasPause: columns.pauseColumn !== undefined };
  if (portal !== null) return openPortal(portal, has, clock, random);
  if (dav !== null) return ServedFile.open(davServer(dav.habits), dav.ending, columns, random, folder);
  if (graph !== null) return ServedFile.open(graphServer(graph), graph.ending, columns, random, folder);
  return spreadsheet === null ? null : Spreadsheet.open(spreadsheet, columns, clock, folder);
}
