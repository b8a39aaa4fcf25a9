import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { showCell } from '../core/lead/value.ts';
import type { SyncContext } from '../sync/context.ts';

type Rows = Awaited<ReturnType<SyncContext['target']['open']>>['rows'];
type TargetRow = Rows extends AsyncIterable<readonly (infer Row)[]> ? Row : never;

/** Counts rows whose ids cannot be read or written. */
export class IdLook {
  #unreadable = 0;
  #firstUnreadable = '';
  #closed = 0;
  #firstClosed = '';

  see({ row, unreadableId, idClosed }: TargetRow): void {
    if (unreadableId !== undefined) {
      this.#unreadable += 1;
      this.#firstUnreadable ||= `row ${row}: ${showCell({ unreadable: unreadableId })}`;
    } else if (idClosed !== undefined) {
      this.#closed += 1;
      this.#firstClosed ||= `row ${row}: ${idClosed}`;
    }
  }

  /** The faults found. */
  faults(): readonly LeadsyncError[] {
    const faults: LeadsyncError[] = [];
    if (this.#unreadable > 0) {
      const message = `${counted(this.#unreadable, 'row shows', 'rows show')} in the id cell something that is no id and cannot be overwritten, such as ${this.#firstUnreadable}. Such rows are held, and until this is fixed no row counts as deleted`;
      const help =
        'Type each id there as plain text, or empty the cell: a row that shows what its lead shows gets its id back.';
      faults.push(new LeadsyncError('row.id-unreadable', message, { help }));
    }
    if (this.#closed > 0) {
      const message = `no id can be written into ${counted(this.#closed, 'row')} without one, such as ${this.#firstClosed} No leads are created from them`;
      const help = 'Let leadsync write the id column.';
      faults.push(new LeadsyncError('row.id-closed', message, { help }));
    }
    return faults;
  }
}
