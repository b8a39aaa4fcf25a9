import { type Lead, leadCells } from '../core/lead/lead.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import type { Cells } from '../core/lead/value.ts';
import type { ScannedLead } from '../store/staging.ts';

/** A pulled lead; its cells are read only when it differs from its baseline. */
export class PulledLead implements ScannedLead {
  readonly leadId: string;
  readonly shown: string;
  readonly #lead: Lead;
  readonly #fields: readonly FieldMapping[];
  #cells: Cells | null = null;

  constructor(lead: Lead, fields: readonly FieldMapping[]) {
    this.leadId = lead.id;
    this.#lead = lead;
    this.#fields = fields;
    this.shown = this.#raw();
  }

  get cells(): Cells {
    this.#cells ??= leadCells(this.#lead, this.#fields);
    return this.#cells;
  }

  #raw(): string {
    const { id, fields } = this.#lead;
    try {
      return JSON.stringify([id, ...this.#fields.map(({ field }) => fields[field])]);
    } catch (error) {
      // Nested too deeply; see `leadCells`.
      if (error instanceof RangeError) return JSON.stringify([id, this.cells]);
      throw error;
    }
  }
}
