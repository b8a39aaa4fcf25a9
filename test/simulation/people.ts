import type { Random } from '../../src/demo/random.ts';
import type { Sandbox } from '../../src/demo/sandbox.ts';
import { type Customs, type Deed, inOrder, isMishap } from './customs.ts';
import type { Edit } from './edit.ts';
import type { Branch } from './branch.ts';
import * as grid from './grid.ts';
import { Mishaps } from './mishaps.ts';
import { isTicked, pauseHeading, type PausedRows } from './paused-rows.ts';
import type { Table } from './table.ts';
import { columns, entityOf, type Field, fieldNames, plainId, tokensOf, idOf } from './tokens.ts';
import { type Side, Words } from './words.ts';

/** Everybody who works on either side, and a book of what they did. */
export class People {
  readonly edits: Edit[] = [];
  /** Unique values that somebody saw and overwrote, or deleted with their record. */
  readonly replaced = new Set<string>();
  readonly deletedRows = new Set<string>();
  readonly deletedLeads = new Set<string>();
  readonly doubled = new Set<string>();
  /** Companies whose earlier lead a restored service brought back, and lost the one made of their row since. */
  readonly remade = new Set<string>();
  /** Companies that somebody made one with another, by which. */
  readonly joined = new Map<string, string>();
  readonly mishaps: Mishaps;
  readonly #retyped = new Set<string>();
  /** What became of a row that was moved by way of the clipboard. */
  readonly faults: string[] = [];
  /** Fields that were held at the end of an earlier night: there either side's older word may stand. */
  readonly heldFields = new Set<string>();
  /** What both sides showed when the last night had come to rest, by company and field. */
  readonly settled = new Map<string, string>();
  /** Rows that were found held as a whole. */
  heldRows = 0;
  night = 0;
  /** The table of another connection; null: there is none. */
  branch: Branch | null = null;
  /** Null: nobody pauses rows. */
  pauses: PausedRows | null = null;
  /** A stage that leads are brought to and taken from. */
  openStage = 'open';
  readonly #random: Random;
  readonly #words: Words;
  readonly #sandbox: Sandbox;
  readonly #table: Table;
  readonly #trace: (event: string) => void;
  #clipboard: { readonly headings: readonly string[]; readonly record: readonly string[] } | null = null;
  #byDay = false;
  #isHasty = false;
  #isInGap = false;

  constructor(random: Random, sandbox: Sandbox, table: Table, trace: (event: string) => void) {
    this.#random = random;
    this.#words = new Words(random);
    this.#sandbox = sandbox;
    this.#table = table;
    this.#trace = trace;
    this.mishaps = new Mishaps(random, sandbox, table, {
      doubled: this.doubled,
      deletedLeads: this.deletedLeads,
      branch: () => this.branch,
      retype: (record, headings) =>
        this.#retype(record, headings, fieldNames[1 + this.#random.below(fieldNames.length - 1)]) !== null,
      edits: this.edits,
      settled: this.settled,
      night: () => this.night,
      joined: this.joined,
      note: (name, field, value) => this.#note('sheet', name, field, value),
      forget: (text) => this.#forget(text),
    });
  }

  /** Every unique value that anybody typed, with its side. */
  get all(): ReadonlyMap<string, Side> {
    return this.#words.all;
  }

  async do({ weights, isHasty = false, isInGap = false }: Customs, when: string): Promise<void> {
    this.#isInGap = isInGap;
    this.#isHasty = isHasty;
    this.#byDay = when === 'day';
    const deeds = Object.entries(weights) as [Deed, number][];
    let at = this.#random.float() * deeds.reduce((sum, [, weight]) => sum + weight, 0);
    const deed = deeds.find(([, weight]) => (at -= weight) < 0)?.[0] ?? 'edit-row';
    await this.#as(deed, when);
  }

  async #as(deed: Deed, when: string): Promise<void> {
    const tell = (what: string): void => this.#trace(`${when}: ${deed} ${what}`);
    if (isMishap(deed)) {
      const told = await this.mishaps.happen(deed);
      return told === null ? undefined : tell(told);
    }
    if (this.mishaps.isFixed && inOrder.has(deed)) return;
    switch (deed) {
      case 'edit-row':
        return this.#changeGrid((headings, records) => {
          const record = this.#pick(records);
          if (record === undefined) return;
          if (
            this.mishaps.isHit(record) ||
            grid.mayGetTwoLeads(record, headings, this.settled, this.#retyped)
          )
            return;
          if (grid.isNameOfAnother(record, headings, records)) return;
          const told = this.#retype(record, headings);
          if (told !== null) tell(told);
        });
      case 'edit-lead': {
        const lead = this.#pick(this.#sandbox.leads.list());
        if (lead === undefined) return;
        const field = this.#field();
        const old = lead[field] ?? '';
        // Before the row has the lead's id, a field that is emptied is filled again, and a lead that is renamed may be
        // made twice: known limits (docs/guarantees.md, 1 and 3).
        const hasRow = await grid.isLinked(this.#table, lead.id);
        if (field === 'companyName' && !hasRow) return;
        const value = this.#words.value(field, lead.companyName, 'web');
        if (value === null || (value === '' && !hasRow)) return;
        // Nobody can tell that what is empty was emptied once more.
        if (value === old) return;
        this.#forget(old);
        const stored = field === 'nextFollowUpAt' && value === '' ? null : value;
        const after = this.#sandbox.leads.edit(lead.id, { [field]: stored });
        this.#note('web', after.companyName, field, value);
        const change = `${JSON.stringify(old)} -> ${JSON.stringify(value)}`;
        return tell(`${lead.id} ${after.companyName}: ${field} ${change}`);
      }
      case 'set-stage': {
        if (this.#random.below(2) === 0)
          return this.#changeGrid((headings, records) => {
            const record = this.#pick(records);
            const isFree = record !== undefined && !this.mishaps.isHit(record);
            const hasCell = (heading: string) => (record?.[headings.indexOf(heading)] ?? '') !== '';
            if (!isFree || !hasCell('Lead ID') || !hasCell('Company')) return;
            const told = this.#retype(record, headings, 'stage', this.openStage);
            if (told !== null) tell(told);
          });
        const lead = this.#pick(this.#sandbox.leads.list());
        if (lead === undefined) return;
        const isOpen = lead['stage'] === this.openStage;
        const stage = isOpen ? this.#words.value('stage', lead.companyName, 'web') : this.openStage;
        if (!stage || entityOf(lead.companyName) === null) return;
        this.#forget(lead['stage'] ?? '');
        this.#sandbox.leads.edit(lead.id, { stage });
        this.#note('web', lead.companyName, 'stage', stage);
        return tell(`${lead.id} ${lead.companyName}: ${stage}`);
      }
      case 'insert-row':
      case 'insert-below':
        return this.#changeGrid((headings, records) => {
          const record = grid.asRow(this.#fresh('sheet'), headings);
          const at = deed === 'insert-below' ? records.length : this.#random.below(records.length + 1);
          records.splice(at, 0, record);
          tell(JSON.stringify(record));
        });
      case 'blank-row':
        return this.#changeGrid((headings, records) => {
          const at = this.#random.below(records.length + 1);
          const blank = headings.map(() => '');
          records.splice(at, 0, blank);
          tell(`${at + 2}`);
        });
      case 'move-column': {
        const told = await grid.moveColumn(this.#table, this.#random);
        return told === null ? undefined : tell(told);
      }
      case 'copy-row':
      case 'copy-with-id':
        return this.#changeGrid((headings, records) => {
          const original = this.#pick(records);
          if (original === undefined) return;
          const copy = [...original];
          const pause = headings.indexOf(pauseHeading);
          if (deed === 'copy-with-id' && isTicked(original[pause])) return;
          if (pause >= 0) copy[pause] = '';
          if (deed === 'copy-row') {
            copy[headings.indexOf('Lead ID')] = '';
            copy[headings.indexOf('Company')] = this.#name('sheet');
          } else {
            const entity = entityOf(original[headings.indexOf('Company')] ?? '');
            if (entity === null || (original[headings.indexOf('Lead ID')] ?? '') === '') return;
            this.doubled.add(entity);
          }
          records.splice(this.#random.below(records.length + 1), 0, copy);
          tell(JSON.stringify(copy));
        });
      case 'pause-row':
        return this.#changeGrid((headings, records) => {
          const record = this.#pick(records);
          if (record === undefined || this.mishaps.isHit(record)) return;
          if (entityOf(record[headings.indexOf('Company')] ?? '') === null) return;
          const told = this.pauses?.toggle(headings, record) ?? null;
          if (told !== null) tell(told);
        });
      case 'sort':
        return this.#changeGrid((_, records) => {
          const places = new Map(records.map((record) => [record, this.#random.float()]));
          records.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
          tell('');
        });
      case 'delete-row':
        return this.#changeGrid((headings, records) => {
          if (records.length < 6) return;
          const [record] = records.splice(this.#random.below(records.length), 1);
          if (record === undefined) return;
          for (const cell of record) this.#forget(cell);
          for (const field of fieldNames)
            this.#forgetEarlier(record[headings.indexOf('Company')] ?? '', field);
          const entity = entityOf(record[headings.indexOf('Company')] ?? '');
          if (entity !== null) {
            this.deletedRows.add(entity);
            grid.loseJoined(this.joined, this.deletedRows, entity);
            // A row that never had a lead leaves nothing behind.
            if (!this.#sandbox.leads.list().some((lead) => entityOf(lead.companyName) === entity))
              this.deletedLeads.add(entity);
          }
          tell(JSON.stringify(record));
        });
      case 'add-lead': {
        const { id: _, ...fields } = this.#fresh('web');
        const lead = this.#sandbox.leads.add({ ...fields, nextFollowUpAt: fields['nextFollowUpAt'] || null });
        return tell(`${lead.id} ${JSON.stringify(fields)}`);
      }
      case 'delete-lead': {
        const leads = this.#sandbox.leads.list();
        const lead = this.#pick(leads);
        if (lead === undefined || leads.length < 6) return;
        for (const value of Object.values(lead)) this.#forget(String(value));
        const entity = entityOf(lead.companyName);
        if (entity !== null) {
          this.deletedLeads.add(entity);
          if (!(await grid.showsRow(this.#table, entity))) this.deletedRows.add(entity);
        }
        this.#sandbox.leads.remove(lead.id);
        return tell(`${lead.id} ${lead.companyName}`);
      }
    }
  }

  /** Gives what is to be told; null: nothing was typed. */
  #retype(
    record: string[],
    headings: readonly string[],
    field = this.#field(),
    text?: string,
  ): string | null {
    const at = headings.indexOf(columns[field]);
    const old = record[at] ?? '';
    const name = record[headings.indexOf('Company')] ?? '';
    const isTwo = grid.isOfTwo(record, headings, this.#sandbox);
    // Over a name that stands there for a moment: it renames whose row it is (docs/google-sheets.md, "Edits in the moment of a write").
    if (isTwo && field === 'companyName') return null;
    const value = text ?? this.#words.value(field, name, 'sheet');
    if (value === null || value === old || !this.#canType(field, value)) return null;
    this.#forget(old);
    this.#forgetEarlier(name, field);
    record[at] = value;
    this.#isInGap ||= isTwo;
    this.#note('sheet', name, field, value);
    return `${record[0]} ${record[1]}: ${field} ${JSON.stringify(old)} -> ${JSON.stringify(value)}`;
  }

  /** Brings a lead to the stage of those that are worked on, if there is none. */
  opens(lists: (lead: { readonly stage?: string }) => boolean): void {
    const leads = this.#sandbox.leads.list().filter(({ companyName }) => entityOf(companyName) !== null);
    const lead = this.#pick(leads);
    if (lead === undefined || leads.some(lists)) return;
    this.#forget(lead['stage'] ?? '');
    this.#sandbox.leads.edit(lead.id, { stage: this.openStage });
    this.#note('web', lead.companyName, 'stage', this.openStage);
    this.#trace(`opened ${lead.id} ${lead.companyName}`);
  }

  /** Moves a row by way of the clipboard: while it is there, the table lacks it. */
  async cutOrPaste(): Promise<void> {
    if (this.#clipboard !== null) return this.paste();
    return this.#changeGrid((headings, records) => {
      const at = this.#random.below(records.length);
      const record = records[at];
      if (record === undefined || records.length < 6 || this.mishaps.isHit(record) || this.mishaps.isFixed)
        return;
      const cell = (heading: string) => record[headings.indexOf(heading)] ?? '';
      if (cell('Lead ID') === '' || entityOf(cell('Company')) === null) return;
      if (records.some((other) => other !== record && idOf(other, headings) === idOf(record, headings)))
        return;
      records.splice(at, 1);
      this.#clipboard = { headings, record };
      this.#trace(`cut ${JSON.stringify(record)}`);
    });
  }

  async paste(): Promise<void> {
    const cut = this.#clipboard;
    if (cut === null) return;
    await this.#changeGrid((headings, records) => {
      const pasted = headings.map((heading) => cut.record[cut.headings.indexOf(heading)] ?? '');
      const id = idOf(pasted, headings);
      const entity = entityOf(pasted[headings.indexOf('Company')] ?? '') ?? '';
      if (records.some((record) => idOf(record, headings) === id))
        this.faults.push(`${id} was written again while its row was on the clipboard`);
      if (
        !this.deletedLeads.has(entity) &&
        !this.#sandbox.leads.list().some((lead) => plainId(lead.id) === id)
      )
        this.faults.push(`the lead ${id} was deleted while its row was on the clipboard`);
      records.splice(this.#random.below(records.length + 1), 0, pasted);
      this.#clipboard = null;
      this.#trace(`pasted ${JSON.stringify(pasted)}`);
    });
  }

  /** In the morning people put right what went wrong, and tidy the table. */
  async putRight(): Promise<void> {
    [this.#byDay, this.#isInGap] = [false, false];
    await this.mishaps.mend();
    await this.#tidy();
  }

  /** Something that was there before is typed again. */
  types(name: string, field: Field, old: string, value: string): void {
    [this.#byDay, this.#isInGap] = [true, false];
    this.#forget(old);
    this.#note('sheet', name, field, value);
  }

  /** The later ones of rows with one id are removed by hand, and empty rows within the table. */
  async #tidy(): Promise<void> {
    await this.#changeGrid((headings, records) => {
      for (const record of grid.removeRepeated(headings, records)) {
        for (const cell of record) this.#forget(cell);
        this.#trace(`tidy: removed ${JSON.stringify(record)}`);
      }
    });
  }

  async #changeGrid(change: (headings: readonly string[], records: string[][]) => void): Promise<void> {
    if (this.mishaps.isCut) return;
    const [headings, ...records] = (await this.#table.grid()) ?? [];
    if (headings === undefined) return;
    const below = records.splice(Mishaps.height(records));
    const before = JSON.stringify(records);
    change(headings, records);
    if (JSON.stringify(records) !== before) await this.#table.write([headings, ...records, ...below]);
  }

  /** What cannot be typed is looked for nowhere. */
  #canType(field: Field, value: string): boolean {
    if (this.#table.takes?.(field, value) !== false) return true;
    this.#forget(value);
    return false;
  }

  #field(): Field {
    return this.#random.pick(fieldNames);
  }

  #name(side: Side): string {
    const name = this.#words.company(side);
    this.#note(side, name, 'companyName', name);
    return name;
  }

  #fresh(side: Side): Record<string, string> {
    const name = this.#name(side);
    const record: Record<string, string> = { companyName: name };
    for (const field of fieldNames) {
      if (field === 'companyName' || this.#random.below(3) === 0) continue;
      const value = this.#words.value(field, name, side) ?? '';
      if (side === 'sheet' && !this.#canType(field, value)) continue;
      record[field] = value;
      this.#note(side, name, field, value);
    }
    return record;
  }

  #note(side: Side, name: string, field: Field, value: string): void {
    const [night, byDay, inGap] = [this.night, this.#byDay, this.#isInGap];
    this.edits.push({ night, side, entity: entityOf(name) ?? '', field, value, byDay, inGap });
  }

  /** What was typed into a cell earlier tonight, and may have been written over without being seen. */
  #forgetEarlier(name: string, field: Field): void {
    if (!this.#isHasty) return;
    const last = this.edits.findLast(
      (edit) => edit.side === 'sheet' && edit.entity === entityOf(name) && edit.field === field,
    );
    if (last !== undefined) this.#forget(last.value);
  }

  #forget(text: string): void {
    for (const token of tokensOf(text)) this.replaced.add(token);
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[this.#random.below(items.length)];
  }
}
