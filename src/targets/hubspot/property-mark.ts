import { LeadsyncError } from '../../errors.ts';
import { markText, readMark } from '../../core/lead/table-mark.ts';
import type { MarkToWrite } from '../../ports/target.ts';
import type { CompanyTable } from './company-table.ts';
import type { HubSpotApi } from './hubspot-api.ts';
import type { PropertyDefinition } from './hubspot-replies.ts';

/** Within a description that people may have written. */
const marks = /\{"v":1,[^{}]*\}/g;

export function markOf(property: PropertyDefinition | undefined): string | null {
  return (property?.description ?? '').match(marks)?.findLast((text) => readMark(text) !== null) ?? null;
}

/** Into the id property's description. Contains no time, so it is written once; not at all when the key may not. */
export class PropertyMarker {
  readonly #api: HubSpotApi;
  /** The last mark tried, written or not. */
  #tried: string | null = null;

  constructor(api: HubSpotApi) {
    this.#api = api;
  }

  async write(table: CompanyTable, mark: MarkToWrite, signal: AbortSignal): Promise<void> {
    const { keeper, connection, place } = readMark(mark.text) ?? {};
    if (keeper === undefined || connection === undefined || this.#tried === mark.text) return;
    this.#tried = mark.text;
    const text = markText({ keeper, connection, place });
    const name = table.idProperty;
    if (markOf(table.properties.get(name)) === text) return mark.arrived();
    try {
      const { description } = await this.#api.property(name, signal);
      const others = (description ?? '').replaceAll(marks, '').trim();
      const change = { description: `${others} ${text}`.trim() };
      if (markOf(await this.#api.changeProperty(name, change, signal)) === text) mark.arrived();
    } catch (error) {
      // The rows are written: their outcomes must not be lost over a mark.
      if (!(error instanceof LeadsyncError)) throw error;
    }
  }
}
