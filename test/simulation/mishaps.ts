import type { Random } from '../../src/demo/random.ts';
import type { Sandbox } from '../../src/demo/sandbox.ts';
import type { Mishap } from './customs.ts';
import type { Edit } from './edit.ts';
import type { Branch } from './branch.ts';
import { isTicked, pauseHeading } from './paused-rows.ts';
import type { Table } from './table.ts';
import { columns, entityOf, type Field, fieldNames, plainId, shown, idOf } from './tokens.ts';

/** A cell that does not show what it did. */
interface LostCell {
  readonly entity: string;
  readonly heading: string;
  readonly text: string;
  /** The service had a value there. */
  readonly isKnown: boolean;
}

/** What people tell of their mishaps to those who keep the book. */
export interface Book {
  readonly doubled: ReadonlySet<string>;
  readonly deletedLeads: ReadonlySet<string>;
  night(): number;
  /** Types something but another name into a row, as by an edit. Returns whether anything was typed. */
  retype(record: string[], headings: readonly string[]): boolean;
  /** Companies that somebody made one with another, by which. */
  readonly joined: Map<string, string>;
  readonly edits: readonly Edit[];
  /** What both sides showed in the evening, by company and field. */
  readonly settled: ReadonlyMap<string, string>;
  /** The table of another connection, into which rows may be moved; null: there is none. */
  branch(): Branch | null;
  note(name: string, field: Field, value: string): void;
  forget(text: string): void;
}

/** As many rows as the guard tells from edits. */
const enoughShifted = 10;

/** A lead's id, as some programs write it again. */
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * What happens to a table by accident, and is put right in the morning: files that are cut, rows that end too early, cells
 * that are merged, ids that are gone, broken or written otherwise; and notes, and companies that are made one, which stay.
 * As long as it lasts people leave the order of the rows alone, and the rows that were hit.
 */
export class Mishaps {
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #sandbox: Sandbox;
  readonly #table: Table;
  readonly #book: Book;
  readonly #hit = new Set<string>();
  /** The night in which a cell was lost last, by company and heading. */
  readonly #lostIn = new Map<string, number>();
  #mends: (() => Promise<void>)[] = [];
  #isCut = false;
  #hasNote = false;
  #hadAny = false;

  constructor(random: Random, sandbox: Sandbox, table: Table, book: Book) {
    this.#random = random;
    this.#sandbox = sandbox;
    this.#table = table;
    this.#book = book;
  }

  /** Nobody can work in the table. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Nobody moves rows. */
  get isFixed(): boolean {
    return this.#mends.length > 0;
  }

  /** Something was put right this morning: a run that began before may tell of it yet. */
  get hadAny(): boolean {
    return this.#hadAny;
  }

  /** A cell was not there for a while tonight. */
  wasLost(entity: string, field: Field): boolean {
    return this.#lostIn.get(`${entity}.${columns[field]}`) === this.#book.night();
  }

  /** A row that people do not work in just now. */
  isHit(record: readonly string[]): boolean {
    return record.some((cell) => isNote(cell) || this.#hit.has(entityOf(cell) ?? ''));
  }

  /** How many of the first records are the table, above the note. */
  static height(records: readonly (readonly string[])[]): number {
    const at = records.findIndex((record) => record.some(isNote));
    return at < 0 ? records.length : Math.max(0, at - 2);
  }

  /** Returns what is to be told; null: it cannot happen here, or not now. */
  async happen(mishap: Mishap): Promise<string | null> {
    if (this.#isCut) return null;
    const [headings, ...records] = (await this.#table.grid()) ?? [];
    if (headings === undefined) return null;
    const id = headings.indexOf('Lead ID');
    const isWhole = (record: readonly string[] | undefined): record is string[] => {
      const entity = entityOf(record?.[headings.indexOf('Company')] ?? '');
      const isPaused = isTicked(record?.[headings.indexOf(pauseHeading)]);
      const isKnown =
        (record?.[id] ?? '') !== '' && entity !== null && !this.#book.doubled.has(entity) && !isPaused;
      return isKnown && record !== undefined && record.length === headings.length && !this.isHit(record);
    };
    const whole = records.filter(isWhole);
    const record = whole[this.#random.below(whole.length)];
    if (record === undefined) return null;
    const save = (): Promise<void> => this.#table.write([headings, ...records]);
    switch (mishap) {
      case 'cut-file': {
        const cut = this.isFixed ? null : (this.#table.cut?.(this.#random) ?? null);
        if (cut === null) return null;
        this.#isCut = true;
        this.#mends.push(() => {
          this.#isCut = false;
          if (!cut.mend()) this.faults.push('a file that was cut in the middle of a row was written to');
          return Promise.resolve();
        });
        return `to ${cut.bytes} bytes`;
      }
      case 'short-row': {
        if (this.#table.cut === undefined) return null;
        const length = 2 + this.#random.below(headings.length - 2);
        const lost = headings.slice(length).flatMap((heading) => this.#cell(record, headings, heading));
        // Of a cell that is not there nobody could tell what was typed into it.
        if (lost.some(({ entity, heading }) => this.#isEdited(entity, heading))) return null;
        this.#loses(lost);
        record.splice(length);
        await save();
        return `${record[1]} to ${length} cells`;
      }
      case 'merge-cells': {
        const first = records.indexOf(record);
        const second = records[first + 1];
        if (!isWhole(second) || this.#table.merge === undefined) return null;
        const heading = this.#random.pick(['Lead ID', ...fieldNames.slice(1).map((field) => columns[field])]);
        this.#hits(record, headings);
        this.#loses(this.#cell(second, headings, heading), () => this.#table.unmerge?.());
        await this.#table.merge(first + 1, headings.indexOf(heading));
        return `${heading} of ${record[1]} and ${second[1]}`;
      }
      case 'break-id': {
        this.#loses(this.#cell(record, headings, 'Lead ID'));
        const text = this.#random.pick(['#REF!', '#NAME?']);
        if (this.#table.typeFormula === undefined) {
          record[id] = text;
          await save();
        } else await this.#table.typeFormula(records.indexOf(record) + 1, id);
        return `${record[1]}`;
      }
      case 'clear-ids':
      case 'clear-and-edit': {
        const several = mishap === 'clear-ids' ? whole.slice(0, 1 + this.#random.below(4)) : [record];
        for (const each of several) {
          const lost = this.#cell(each, headings, 'Lead ID');
          // A row without id that has another name, and perhaps another place, is a new row to everybody.
          const name = each[headings.indexOf('Company')];
          const isRenamed = (entity: string): boolean =>
            this.#isEdited(entity, 'Company') || this.#book.settled.get(`${entity}.companyName`) !== name;
          if (lost.some(({ entity }) => isRenamed(entity))) return null;
          if (mishap === 'clear-and-edit' && !this.#book.retype(each, headings)) return null;
          this.#loses(lost);
          each[id] = '';
        }
        await save();
        return several.map((each) => each[headings.indexOf('Company')]).join(', ');
      }
      case 'recase-ids': {
        const inBraces = this.#random.below(2) === 0;
        const several = this.#random.below(2) === 0 ? whole : [record];
        for (const each of several) {
          const text = each[id] ?? '';
          if (uuid.test(text)) each[id] = inBraces ? `{${text.toUpperCase()}}` : text.toUpperCase();
        }
        await save();
        return `${several.length} ${inBraces ? 'in braces' : 'in capitals'}`;
      }
      case 'note-below': {
        if (this.#hasNote) return null;
        this.#hasNote = true;
        const blank = headings.map(() => '');
        const note = headings.map((heading) => (heading === 'Company' ? 'note: call them back' : ''));
        records.push([...blank], [...blank], note);
        await save();
        return '';
      }
      case 'merge-companies': {
        const loser = whole[this.#random.below(whole.length)];
        if (loser === undefined || loser === record || this.#table.join === undefined || whole.length < 6)
          return null;
        this.#joins(record, loser, headings);
        this.#table.join(record, loser);
        return `${loser[1]} into ${record[1]}`;
      }
      case 'stray-quotes': {
        const stray = this.isFixed ? null : (this.#table.strayQuotes?.(this.#random) ?? null);
        if (stray === null) return null;
        this.#isCut = true;
        this.#mends.push(() => {
          this.#isCut = false;
          if (!stray.mend()) this.faults.push('what stray quotation marks joined was written over');
          return Promise.resolve();
        });
        return stray.told;
      }
      case 'shift-cells':
        return this.#shift(headings, records, isWhole, save);
      case 'move-to-branch': {
        const branch = this.#book.branch();
        const entity = entityOf(record[headings.indexOf('Company')] ?? '') ?? '';
        const isOpen = Object.values(columns).some((heading) => this.#isEdited(entity, heading));
        if (branch === null || !branch.hasTable || isOpen || whole.length < 6) return null;
        const before = [...record];
        if (this.#random.below(2) === 0) this.#book.retype(record, headings);
        const typed = headings.filter((_, at) => record[at] !== before[at]);
        const back = branch.paste(headings, record);
        this.#hits(record, headings);
        for (const heading of Object.values(columns))
          this.#lostIn.set(`${entity}.${heading}`, this.#book.night());
        records.splice(records.indexOf(record), 1);
        await save();
        this.#mends.push(() => this.#bringBack(record[id] ?? '', entity, typed, back));
        return `${record[1]}`;
      }
      default:
        return mishap satisfies never;
    }
  }

  /**
   * Somebody deletes some cells of one column, and those below move up; or inserts some, and they move down as far as rows go.
   * Only where enough rows of what was in step move to be told from edits.
   */
  async #shift(
    headings: readonly string[],
    records: readonly string[][],
    isWhole: (record: readonly string[]) => boolean,
    save: () => Promise<void>,
  ): Promise<string | null> {
    const field = this.#random.pick(fieldNames);
    const [at, company, id] = [columns[field], 'Company', 'Lead ID'].map((name) => headings.indexOf(name));
    const by = 1 + this.#random.below(3);
    const isDown = this.#random.below(3) === 0;
    if (at === undefined || company === undefined || id === undefined || at < 0) return null;
    const entity = (record: readonly string[]): string => entityOf(record[company] ?? '') ?? '';
    const isInStep = (record: readonly string[]): boolean =>
      isWhole(record) &&
      this.#book.settled.get(`${entity(record)}.companyName`) === record[company] &&
      this.#book.settled.get(`${entity(record)}.${field}`) === shown(field, record[at]);
    const first = records.findLastIndex((record) => !isInStep(record)) + 1;
    const rows = records.slice(first);
    const before = rows.map((record) => record[at] ?? '');
    const after = before.map((_, nth) => before[isDown ? nth - by : nth + by] ?? '');
    const moved = after.filter((text, nth) => text !== '' && text !== before[nth]);
    if (moved.length < enoughShifted || new Set(moved).size < moved.length - 2) return null;
    const cells = rows.map((record, nth) => ({
      leadId: record[id] ?? '',
      entity: entity(record),
      from: before[nth] ?? '',
      to: after[nth] ?? '',
    }));
    for (const one of cells) this.#hit.add(one.entity);
    for (const [nth, record] of rows.entries()) record[at] = after[nth] ?? '';
    await save();
    this.#mends.push(() => this.#shiftBack(field, cells));
    return `${columns[field]} from row ${first + 2} on by ${by} ${isDown ? 'down' : 'up'}`;
  }

  async #shiftBack(
    field: Field,
    cells: readonly { leadId: string; entity: string; from: string; to: string }[],
  ): Promise<void> {
    const [headings = [], ...records] = (await this.#table.grid()) ?? [];
    const [at, id] = [headings.indexOf(columns[field]), headings.indexOf('Lead ID')];
    const leads = this.#sandbox.leads.list();
    for (const { leadId, entity, from, to } of cells) {
      const lead = leads.find((one) => plainId(one.id) === plainId(leadId));
      const isWrong = lead !== undefined && from !== to && shown(field, lead[field]) === shown(field, to);
      if (isWrong && this.#lastWord(entity, columns[field]) !== lead?.[field])
        this.faults.push(
          `${field} of ${entity} became ${JSON.stringify(to)}, which was shifted into its row`,
        );
      const record = records.find((row) => plainId(row[id] ?? '') === plainId(leadId));
      if (record !== undefined && record[at] === to) record[at] = from;
    }
    await this.#table.write([headings, ...records]);
  }

  /** The row comes back from the other table; where it was written here meanwhile, only what was `typed` into it. */
  async #bringBack(
    leadId: string,
    entity: string,
    typed: readonly string[],
    back: () => Record<string, string> | null,
  ): Promise<void> {
    const row = back();
    const isThere = this.#sandbox.leads.list().some(({ id }) => plainId(id) === plainId(leadId));
    if (!isThere && !this.#book.deletedLeads.has(entity))
      this.faults.push(`the lead of ${entity} was deleted, though its row stood in another table`);
    if (row === null) {
      this.faults.push(`the row of ${entity} is gone from the other table, where somebody put it`);
      return;
    }
    const [headings = [], ...records] = (await this.#table.grid()) ?? [];
    const own = records.find((record) => idOf(record, headings) === plainId(leadId));
    const record = own ?? headings.map(() => '');
    for (const [column, heading] of headings.entries())
      if (own === undefined ? heading !== 'Status' : typed.includes(heading))
        record[column] = row[heading] ?? '';
    // Above notes: a row with an id below them would make them rows of the table.
    const end = records.findLastIndex((one) => (one[headings.indexOf('Lead ID')] ?? '') !== '') + 1;
    if (own === undefined) records.splice(end, 0, record);
    await this.#table.write([headings, ...records]);
  }

  /** In the morning people see what has happened, and put it right. */
  async mend(): Promise<void> {
    const mends = this.#mends;
    this.#mends = [];
    this.#hadAny = mends.length > 0;
    for (const mend of mends) await mend();
    this.#hit.clear();
  }

  /** What is empty in the one gets what the other has. */
  #joins(winner: readonly string[], loser: readonly string[], headings: readonly string[]): void {
    const company = headings.indexOf('Company');
    this.#book.joined.set(entityOf(loser[company] ?? '') ?? '', entityOf(winner[company] ?? '') ?? '');
    for (const field of fieldNames) {
      const at = headings.indexOf(columns[field]);
      const [own, other] = [winner[at] ?? '', loser[at] ?? ''];
      this.#book.forget(other);
      if (own === '' && other !== '') this.#book.note(winner[company] ?? '', field, other);
    }
  }

  /** What the last edit in the service made of a field; undefined: there was none. */
  #lastWord(entity: string, heading: string): string | undefined {
    const isIt = (edit: Edit) =>
      edit.side === 'web' && edit.entity === entity && columns[edit.field] === heading;
    return this.#book.edits.findLast(isIt)?.value;
  }

  #cell(record: readonly string[], headings: readonly string[], heading: string): LostCell[] {
    const entity = entityOf(record[headings.indexOf('Company')] ?? '') ?? '';
    const text = record[headings.indexOf(heading)] ?? '';
    // What the sync says of a row it says again; but of a deleted lead an empty cell is a mark that people took out
    // (src/core/merge/row-status.ts), so they type what stood there, also of an older copy that has no mark yet.
    const leads = this.#sandbox.leads.list();
    if (heading === 'Status' && leads.some(({ companyName }) => entityOf(companyName) === entity)) return [];
    return [{ entity, heading, text, isKnown: this.#shows(entity, heading) }];
  }

  /** Whether somebody has typed into this cell what no run has settled yet. */
  #isEdited(entity: string, heading: string): boolean {
    const { edits, settled } = this.#book;
    const night = this.#book.night();
    // One of an earlier night that is held still is nowhere else either.
    const isOpen = (edit: Edit): boolean => edit.night === night || !settled.has(`${entity}.${edit.field}`);
    return edits.some(
      (edit) =>
        edit.side === 'sheet' && edit.entity === entity && columns[edit.field] === heading && isOpen(edit),
    );
  }

  #shows(entity: string, heading: string): boolean {
    const field = fieldNames.find((name) => columns[name] === heading);
    const lead = this.#sandbox.leads.list().find(({ companyName }) => entityOf(companyName) === entity);
    return field !== undefined && (lead?.[field] ?? '') !== '';
  }

  #hits(record: readonly string[], headings: readonly string[]): void {
    this.#hit.add(entityOf(record[headings.indexOf('Company')] ?? '') ?? '');
  }

  #loses(cells: readonly LostCell[], before?: () => void): void {
    for (const { entity } of cells) this.#hit.add(entity);
    for (const { entity, heading } of cells) this.#lostIn.set(`${entity}.${heading}`, this.#book.night());
    this.#mends.push(async () => {
      before?.();
      for (const cell of cells) {
        const isEmptied = cell.isKnown && !this.#shows(cell.entity, cell.heading);
        const isThere = this.#sandbox.leads.list().some((lead) => entityOf(lead.companyName) === cell.entity);
        if (isEmptied && isThere && this.#lastWord(cell.entity, cell.heading) !== '')
          this.faults.push(
            `${cell.heading} of ${cell.entity} was emptied in the service by a cell that was not there`,
          );
      }
      await this.#restore(cells);
    });
  }

  async #restore(cells: readonly LostCell[]): Promise<void> {
    const [headings, ...records] = (await this.#table.grid()) ?? [];
    if (headings === undefined) return;
    const before = JSON.stringify(records);
    for (const { entity, heading, text } of cells) {
      const own = records.filter((record) => record.some((cell) => entityOf(cell) === entity));
      const [record] = own;
      const at = headings.indexOf(heading);
      if (own.length > 1) this.faults.push(`${entity} is ${own.length} rows after a mishap`);
      if (record === undefined) continue;
      while (record.length < headings.length) record.push('');
      const shown = record[at] ?? '';
      if (shown !== '' && !shown.startsWith('#')) continue;
      record[at] = text;
      // It is an edit like any other: somebody may have emptied the field in the service, and the row with it.
      const field = fieldNames.find((name) => columns[name] === heading);
      if (field !== undefined && text !== shown) this.#book.note(entity, field, text);
    }
    if (JSON.stringify(records) !== before) await this.#table.write([headings, ...records]);
  }
}

function isNote(text: string): boolean {
  return text.startsWith('note: ');
}
