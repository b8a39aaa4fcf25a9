import { rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { exitCodeFor } from '../../src/cli/output.ts';
import { showCell } from '../../src/core/lead/value.ts';
import type { SandboxLead } from '../../src/demo/lead-table.ts';
import { type Action, visibleActions } from '../../src/store/actions.ts';
import { listConflicts } from '../../src/store/conflicts.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import type { Answer } from '../../src/core/merge/holds.ts';
import { answer, matchesIn } from '../support/held.ts';
import type { SheetRow } from '../support/sheet.ts';
import { connectionName, Workspace } from '../support/workspace.ts';
import { acme, bolt, cord, type Expected, idOf, row, type Scenario, type Step } from './scenario.ts';

const headings = ['Lead ID', 'Company', 'City', 'Stage', 'Next follow-up', 'Notes', 'Status'];

const fields = { companyName: 'Company', city: 'City', stage: 'Stage', nextFollowUpAt: 'Next follow-up' };

const inStep = {
  leads: [acme, bolt, cord],
  rows: [row(acme, 'call Anna'), row(bolt), row(cord, '=1+1')],
};

/** Plays a scenario through the real sync, the sandbox and Postgres, and holds both sides against what it expects. */
export async function runScenario(scenario: Scenario): Promise<void> {
  await using workspace = await Workspace.open({
    sandbox: { leads: 0, ...scenario.service },
    connection: settingsOf(scenario),
  });
  const player = new Player(workspace, scenario);
  player.prepare(scenario.given ?? inStep);
  if (scenario.given === undefined) await player.check({ exit: 0, plan: [], did: 'nothing' }, []);
  for (const step of scenario.steps) await player.play(step);
  const order = (lines: readonly string[]): string[] =>
    scenario.anyOrder === true ? lines.toSorted() : [...lines];
  expect({ leads: order(player.leads()), rows: order(player.rows()) }).toEqual({
    leads: order(scenario.end.leads.map(normal)),
    rows: order(scenario.end.rows.map(normal)),
  });
  if (scenario.unsettled !== true) await player.expectQuiet();
}

function settingsOf(scenario: Scenario, own = scenario.fields) {
  return {
    fields: { ...fields, ...own },
    target: { statusColumn: 'Status', ...scenario.target },
    sync: scenario.sync ?? {},
    leads: { query: scenario.query ?? {} },
  };
}

class Player {
  readonly #workspace: Workspace;
  readonly #scenario: Scenario;
  readonly #names = new Map<string, string>();

  constructor(workspace: Workspace, scenario: Scenario) {
    this.#workspace = workspace;
    this.#scenario = scenario;
  }

  prepare(given: NonNullable<Scenario['given']>): void {
    for (const line of given.leads) this.#addLead(line);
    if (given.rows !== null)
      this.#workspace.sheet.write([headings, ...given.rows.map((line) => this.#record(line))]);
  }

  async play(step: Step): Promise<void> {
    const { sandbox, sheet } = this.#workspace;
    if ('match' in step) await this.#decideMatch(step.match, step.row, step.use);
    else if ('lead' in step) sandbox.leads.edit(this.#id(step.lead), step.set);
    else if ('row' in step) sheet.edit((found) => this.#isRow(found, step.row), this.#cells(step.set));
    else if ('addLead' in step) this.#addLead(step.addLead);
    else if ('addRow' in step) sheet.write([...sheet.grid(), this.#record(step.addRow)]);
    else if ('removeLead' in step) sandbox.leads.remove(this.#id(step.removeLead));
    else if ('removeRow' in step) sheet.remove((found) => this.#isRow(found, step.removeRow));
    else if ('service' in step) sandbox.set(step.service);
    else if ('fields' in step) this.#workspace.configure(settingsOf(this.#scenario, step.fields));
    else if ('minutes' in step) await this.#wait(step.minutes);
    else if ('file' in step) this.#replaceFile(step.file);
    else if ('status' in step) this.#expectStatus(step.status);
    else if ('resolve' in step) await this.#resolve(step.resolve, step.use);
    else await this.check(step.sync, step.allow ?? []);
  }

  /** Plans, sees that nothing was written, syncs, and compares what was said. */
  async check(expected: Expected, allow: readonly string[]): Promise<void> {
    const { plan, ...report } = expected;
    if (plan !== undefined) expect(await this.#plan()).toEqual(plan);
    const said = await this.#workspace.sync({ allow, maxAttempts: 3 });
    this.#nameNewLeads();
    expect(this.#describe(said)).toEqual({ problems: [], putOff: 0, ...report });
    expect(
      said.problems.every(({ message }) => / /.test(message)),
      'each problem is a sentence',
    ).toBe(true);
  }

  /** Nobody edited anything: a further sync writes nothing, to either side (docs/guarantees.md, 2). */
  async expectQuiet(): Promise<void> {
    const before = this.#everything();
    const { created, updated, deleted } = await this.#workspace.sync({ maxAttempts: 3 });
    expect({ created, updated, deleted }).toEqual({
      created: { leads: 0, rows: 0 },
      updated: { leads: 0, rows: 0 },
      deleted: { leads: 0, rows: 0 },
    });
    expect(this.#everything()).toEqual(before);
  }

  leads(): string[] {
    return this.#workspace.sandbox.leads.list().map((lead) => this.#leadLine(lead));
  }

  rows(): string[] {
    if (this.#fileBytes() === null) return ['no file'];
    const rows = this.#workspace.sheet.rows();
    return rows.map((cells) => {
      const [id = '', ...rest] = headings.map((heading) => cells[heading] ?? '');
      rest.pop();
      const parts = [this.#shownId(id), ...rest, ...standing(cells['Status'])];
      return normal(parts.join(' | '));
    });
  }

  async #plan(): Promise<string[]> {
    const before = this.#everything();
    const run = await this.#workspace.run({ mode: 'plan', maxAttempts: 3 });
    expect(this.#everything()).toEqual(before);
    const actions = await visibleActions(this.#workspace.database.pool, run);
    return actions.map((action) => this.#planLine(action));
  }

  #planLine(action: Action): string {
    const place = action.leadId === null ? `row ${action.row}` : this.#name(action.leadId);
    const listed = ['update-row', 'update-lead', 'hold'].includes(action.kind);
    const sign = action.kind === 'hold' ? '≠' : '→';
    const changes = Object.entries(action.changes).map(
      ([field, { from, to }]) => ` ${field}: ${show(from)} ${sign} ${show(to)}`,
    );
    return `${action.kind} ${place}${listed ? changes.join(',') : ''} (${action.reason})`;
  }

  #describe(report: SyncReport): object {
    const done = (['created', 'updated', 'deleted'] as const).flatMap((verb) => {
      const counts = (['leads', 'rows'] as const).flatMap((side) =>
        report[verb][side] > 0 ? [`${report[verb][side]} ${side}`] : [],
      );
      return counts.length > 0 ? [`${verb} ${counts.join(' ')}`] : [];
    });
    const problems = report.problems.map(({ code, leadId, row: number, field }) => {
      const place = leadId !== undefined ? this.#name(leadId) : number !== undefined ? `row ${number}` : '';
      return [code, place, field ?? ''].filter((part) => part !== '').join(' ');
    });
    return {
      exit: exitCodeFor([report]),
      did: done.join(', ') || 'nothing',
      problems,
      putOff: report.putOff,
    };
  }

  async #resolve(place: string, use: Answer): Promise<void> {
    const [name = '', field = ''] = place.split('.');
    const { pool } = this.#workspace.database;
    const held = await listConflicts(pool, connectionName);
    const item = held.find((one) => one.leadId === (name && this.#id(name)) && one.field === field);
    if (item === undefined) throw new Error(`nothing is held for ${place}`);
    await answer(pool, item.id, use);
  }

  async #decideMatch(name: string, row: number, use: Answer): Promise<void> {
    const { pool } = this.#workspace.database;
    const found = await matchesIn(pool);
    const one = found.find((match) => match.leadId === this.#id(name) && match.row === row);
    if (one === undefined) throw new Error(`no match of ${name} with row ${row}`);
    await answer(pool, one.id, use);
  }

  #expectStatus(expected: Readonly<Record<string, string>>): void {
    const rows = this.#workspace.sheet.rows();
    const shown = Object.keys(expected).map((name) => {
      const found = rows.find((cells) => this.#isRow(cells, name));
      return [name, found?.['Status']?.replace(/\d{4}-\d\d-\d\d$/, 'today')];
    });
    expect(Object.fromEntries(shown)).toEqual(expected);
  }

  /** Everything else that the state knows is as old as it is. */
  async #wait(minutes: number): Promise<void> {
    await this.#workspace.database.pool.query(
      `update pairs set absent_since = absent_since - make_interval(mins => $1)`,
      [minutes],
    );
  }

  #replaceFile(text: string | null): void {
    if (text === null) rmSync(this.#workspace.sheet.path);
    else writeFileSync(this.#workspace.sheet.path, text);
  }

  #everything(): object {
    const { log } = this.#workspace.sandbox;
    const writes = log.filter(({ method, status }) => method !== 'GET' && (status === null || status < 400));
    return { leads: this.leads(), file: this.#fileBytes(), writes: writes.length };
  }

  #fileBytes(): string | null {
    try {
      return this.#workspace.sheet.text();
    } catch {
      return null;
    }
  }

  #addLead(line: string): void {
    const [name = '', companyName = '', city = '', stage = '', followUp = ''] = split(line);
    const id = this.#id(name);
    this.#workspace.sandbox.leads.add({
      id,
      companyName,
      city,
      stage,
      nextFollowUpAt: followUp === '' ? null : followUp,
    });
  }

  #record(line: string): string[] {
    const [name = '', ...rest] = split(line);
    const cells = [this.#typedId(name), ...rest];
    return headings.map((_, index) => cells[index] ?? '');
  }

  #leadLine(lead: SandboxLead): string {
    const { companyName, city, stage, nextFollowUpAt } = lead;
    return normal([this.#name(lead.id), companyName, city, stage, nextFollowUpAt ?? ''].join(' | '));
  }

  /** An id is given by its name. */
  #cells(set: SheetRow): SheetRow {
    const id = set['Lead ID'];
    return id === undefined ? set : { ...set, 'Lead ID': this.#typedId(id) };
  }

  #isRow(cells: Readonly<Record<string, string>>, name: string): boolean {
    return cells['Lead ID'] === '' ? cells['Company'] === name : cells['Lead ID'] === this.#typedId(name);
  }

  /** As a person spells it: `{name}` in braces and capitals, `^name` in capitals, `urn:uuid:name`. */
  #typedId(typed: string): string {
    const [, before = '', name = '', after = ''] =
      /^(\s*(?:\{|\^|urn:uuid:)?)(.*?)(\}?\s*)$/.exec(typed) ?? [];
    if (name === '') return '';
    const id = this.#id(name);
    if (before === '^') return id.toUpperCase();
    return before === '{' ? `{${id.toUpperCase()}}` : before + id + after;
  }

  #shownId(id: string): string {
    const [, before = '', bare = '', after = ''] = /^(\s*(?:\{|urn:uuid:)?)(.*?)(\}?\s*)$/.exec(id) ?? [];
    const name = this.#names.get(bare.toLowerCase());
    if (name === undefined) return id;
    return before === '' && bare !== bare.toLowerCase() ? `^${name}` : before + name + after;
  }

  #nameNewLeads(): void {
    for (const { id } of this.#workspace.sandbox.leads.list()) {
      if (!this.#names.has(id))
        this.#names.set(
          id,
          `new${[...this.#names.values()].filter((name) => /^new\d/.test(name)).length + 1}`,
        );
    }
  }

  #name(id: string): string {
    return this.#names.get(id) ?? id;
  }

  #id(name: string): string {
    const known = [...this.#names].find(([, one]) => one === name);
    if (known !== undefined) return known[0];
    const id = idOf(name);
    this.#names.set(id, name);
    return id;
  }
}

/** In step, or no status column: nothing. */
function standing(status: string | undefined): string[] {
  if (status === undefined || status === 'in step') return [];
  return [status === '' ? 'no status' : status.replace(/\d{4}-\d\d-\d\d$/, 'today')];
}

function show(cell: Parameters<typeof showCell>[0]): string {
  return showCell(cell).replaceAll('"', '');
}

function split(line: string): string[] {
  return line.split('|').map((part) => part.trim());
}

/** One form for lines: parts trimmed, empty ones at the end left out. */
function normal(line: string): string {
  return split(line)
    .join(' | ')
    .replace(/(\s*\|\s*)+$/, '');
}
