import { expect } from 'vitest';
import type { Random } from '../../src/demo/random.ts';
import type { Workspace } from './workspace.ts';

/** A record as one line per field, without its id; follow-ups as instants. */
type Content = Readonly<Record<Field, string>>;

const columns = {
  companyName: 'Company',
  segment: 'Segment',
  city: 'City',
  region: 'Region',
  stage: 'Stage',
  nextFollowUpAt: 'Next follow-up',
} as const;
type Field = keyof typeof columns;
const fields = ['companyName', 'segment', 'city', 'region', 'stage', 'nextFollowUpAt'] as const;

/** What both sides must hold in the end, kept by the test itself: leads by id, and what new rows say. */
export class BothSides {
  readonly #workspace: Workspace;
  readonly #byId = new Map<string, Content>();
  readonly #new: Content[] = [];

  /** Takes what the service holds now as what both sides must hold. */
  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    for (const [id, content] of leadsOf(workspace)) this.#byId.set(id, content);
  }

  /** Edits `count` leads and as many rows, all different ones, in random fields; adds `added` new ones on each side. */
  edit(random: Random, count: number, added: number): void {
    const { sandbox, sheet } = this.#workspace;
    const [first = '', ...ids] = this.#byId.keys();
    const chosen = new Set<string>();
    while (chosen.size < 2 * count) chosen.add(random.pick([first, ...ids]));
    const grid = sheet.grid();
    const [headings = []] = grid;
    for (const [index, id] of [...chosen].entries()) {
      const field = random.pick(fields);
      const value =
        field === 'nextFollowUpAt' ? `2032-01-${10 + (index % 18)}T10:00:00.000Z` : `edit ${index}, "ü" =1`;
      this.#byId.set(id, { ...(this.#byId.get(id) ?? empty), [field]: value });
      if (index < count) {
        sandbox.leads.edit(id, { [field]: value });
      } else {
        const record = grid.find((candidate) => candidate[headings.indexOf('Lead ID')] === id);
        if (record === undefined) throw new Error(`no row has the id ${id}`);
        record[headings.indexOf(columns[field])] = value;
      }
    }
    for (let index = 0; index < added; index++) {
      const lead = sandbox.leads.add({ companyName: `New lead ${index}`, stage: 'new' });
      this.#byId.set(lead.id, { ...empty, companyName: `New lead ${index}`, stage: 'new' });
      const row = { ...empty, companyName: `New row ${index}`, city: 'Ulm' };
      this.#new.push(row);
      grid.splice(
        2 + index * 5,
        0,
        headings.map((heading) => row[fields.find((field) => columns[field] === heading) ?? 'region']),
      );
    }
    sheet.write(grid);
  }

  /** Both sides show exactly what they must, each id once on each side, and each new row is one lead. */
  expectSame(): void {
    const leads = leadsOf(this.#workspace);
    const rows = rowsOf(this.#workspace);
    const known = [...leads].filter(([id]) => this.#byId.has(id));
    const made = [...leads].filter(([id]) => !this.#byId.has(id)).map(([, content]) => content);
    expect(new Map(known)).toEqual(this.#byId);
    expect(made.toSorted(byName)).toEqual(this.#new.toSorted(byName));
    expect(rows.map(([id]) => id).toSorted()).toEqual([...leads.keys()].toSorted());
    expect(new Map(rows)).toEqual(leads);
  }
}

/** What keeps a spreadsheet from running a text as a formula; no part of the value. */
const formulaGuard = /^'(?=[=+@-])/;

const empty: Content = { companyName: '', segment: '', city: '', region: '', stage: '', nextFollowUpAt: '' };

function byName(a: Content, b: Content): number {
  return a.companyName.localeCompare(b.companyName);
}

function leadsOf(workspace: Workspace): Map<string, Content> {
  return new Map(workspace.sandbox.leads.list().map((lead) => [lead.id, contentOf((field) => lead[field])]));
}

function rowsOf(workspace: Workspace): [string, Content][] {
  return workspace.sheet
    .rows()
    .map((row) => [
      row['Lead ID'] ?? '',
      contentOf((field) => row[columns[field]]?.replace(formulaGuard, '')),
    ]);
}

function contentOf(read: (field: Field) => string | null | undefined): Content {
  const entries = fields.map((field) => [field, read(field) ?? '']);
  const content = Object.fromEntries(entries) as Record<Field, string>;
  const { nextFollowUpAt } = content;
  return { ...content, nextFollowUpAt: nextFollowUpAt === '' ? '' : new Date(nextFollowUpAt).toISOString() };
}
