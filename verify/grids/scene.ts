import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Values } from '../../src/core/lead/value.ts';
import type { LeadFields } from '../../src/demo/lead-table.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { CliProcess, type CliResult } from '../../test/support/cli.ts';
import { Differs } from '../check.ts';
import {
  type Field,
  type GridTable,
  leadFields,
  type RunningGrid,
  snakeCase,
  type Start,
  type Typed,
} from './grid.ts';
import { textOf } from './row.ts';
import { path } from './server.ts';

export interface SceneOptions {
  /** IANA zone of `sync.timeZone`. */
  readonly zone: string;
  /** Whether leadsync makes the table, or the program. */
  readonly madeBy: 'leadsync' | 'program';
  /** What becomes of deleted rows and leads: restored and marked, or deleted on the other side. */
  readonly deletes: 'kept' | 'carried';
}

const leadCount = 150;
const done = [0, 3];

/** A service, a table in the program and leadsync between them, and what both sides have to hold. */
export class Scene {
  readonly options: SceneOptions;
  readonly sandbox: Sandbox;
  /** By lead id, without the leads whose deletion is under way. */
  readonly expected = new Map<string, Values>();
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running: RunningGrid;
  readonly #signal: AbortSignal;
  readonly #name: string;
  #table: GridTable | null = null;
  #last: SyncReport | null = null;

  private constructor(
    options: SceneOptions,
    sandbox: Sandbox,
    folder: string,
    stateUrl: string,
    running: RunningGrid,
    signal: AbortSignal,
    name: string,
  ) {
    this.options = options;
    this.sandbox = sandbox;
    this.#folder = folder;
    this.#running = running;
    this.#signal = signal;
    this.#name = name;
    this.#env = {
      PATH: path,
      HOME: folder,
      LEADS_API_KEY: sandbox.apiKey,
      DATABASE_URL: stateUrl,
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      LOG_LEVEL: 'warn',
    };
  }

  /** `name`: of the table, letters alone. */
  static async open(start: Start, running: RunningGrid, name: string, options: SceneOptions): Promise<Scene> {
    const folder = join(start.home, name);
    await mkdir(folder);
    const stateUrl = await start.database(`state_${name}`);
    const sandbox = start.stack.use(await startSandbox({ leads: leadCount, extraFields: true }));
    for (const [index, { id }] of sandbox.leads.list().entries())
      sandbox.leads.edit(id, {
        headcount: index * 7,
        revenue: index % 3 === 0 ? null : index + 0.25,
        isKeyAccount: index % 2 === 0,
      });
    return new Scene(options, sandbox, folder, stateUrl, running, start.signal, name);
  }

  get table(): GridTable {
    if (this.#table === null) throw new Error('there is no table yet');
    return this.#table;
  }

  /** The table, made by the program, or by a first run of leadsync and then shown by the program. */
  async makeTable(): Promise<void> {
    if (this.options.madeBy === 'program') {
      this.#table = await this.#running.makeTable(this.#name);
      await this.#configure(this.#table);
      return;
    }
    const { adopts: url } = this.#running;
    await this.#configure({ name: this.#name, url, column: null });
    await this.sync();
    this.#table = await this.#running.adoptTable(this.#name);
  }

  async #configure(
    table: Pick<GridTable, 'name' | 'url' | 'timeZone'> & { column: GridTable['column'] | null },
  ) {
    const { zone, deletes } = this.options;
    const column = (field: Field) => table.column?.(field) ?? snakeCase(field);
    const isCarried = deletes === 'carried';
    const connection = {
      leads: { baseUrl: this.sandbox.url, apiKey: '${LEADS_API_KEY}' },
      target: {
        type: 'postgres-table',
        table: table.name,
        url: table.url,
        idColumn: column('leadId'),
        statusColumn: column('status'),
        ...(table.timeZone !== undefined && { timeZone: table.timeZone }),
      },
      fields: Object.fromEntries(leadFields.map((field) => [field, column(field)])),
      sync: {
        timeZone: zone,
        onLeadDeleted: isCarried ? 'remove' : 'mark',
        onRowDeleted: isCarried ? 'delete-lead' : 'restore',
      },
    };
    const file = join(this.#folder, 'leadsync.yaml');
    await writeFile(file, JSON.stringify({ connections: { main: connection } }));
  }

  async leadsync(...args: readonly string[]): Promise<CliResult> {
    await using running = new CliProcess(args, { cwd: this.#folder, env: this.#env });
    const stop = () => void running.child.kill('SIGKILL');
    this.#signal.addEventListener('abort', stop, { once: true });
    const result = await running.ended;
    this.#signal.removeEventListener('abort', stop);
    this.#signal.throwIfAborted();
    return result;
  }

  async sync(...args: readonly string[]): Promise<SyncReport> {
    const result = await this.leadsync('sync', '--json', ...args);
    if (!done.includes(result.code ?? -1))
      throw new Differs(`leadsync sync ended with ${result.code}: ${result.stdout}${result.stderr}`);
    this.#last = result.json<SyncReport>();
    return this.#last;
  }

  /** Leads in step, the oldest first. */
  ids(count: number, from = 0): string[] {
    const ids = [...this.expected.keys()].slice(from, from + count);
    if (ids.length < count) throw new Error('there are not enough leads');
    return ids;
  }

  async keyOf(leadId: string): Promise<number> {
    const row = (await this.table.list()).find((one) => one.leadId === leadId);
    if (row === undefined) throw new Differs(`the program shows no row of the lead ${leadId}`);
    return row.key;
  }

  /** A person edits rows in the program, by lead id. What has to stand on both sides then is what was typed, unless said otherwise. */
  async type(edits: readonly (readonly [leadId: string, typed: Typed, meant?: Typed])[]): Promise<void> {
    const keys = new Map((await this.table.list()).map(({ leadId, key }) => [leadId, key]));
    const rows = edits.map(([id, typed]) => {
      const key = keys.get(id);
      if (key === undefined) throw new Differs(`the program shows no row of the lead ${id}`);
      return [key, typed] as const;
    });
    await this.table.edit(rows);
    for (const [id, typed, meant = typed] of edits) this.expect(id, meant);
  }

  /** Somebody edits a lead in the service. */
  edit(id: string, fields: Partial<LeadFields>): void {
    this.sandbox.leads.edit(id, fields);
    this.expect(id, fields);
  }

  expect(id: string, typed: Readonly<Record<string, unknown>>): void {
    const changed = leadFields.flatMap((field) =>
      field in typed ? [[field, textOf(field, typed[field])]] : [],
    );
    this.expected.set(id, { ...this.expected.get(id), ...(Object.fromEntries(changed) as Values) });
  }

  /** Throws Differs unless both sides hold what is expected, value by value, and nothing else; gives how many. */
  async equal(): Promise<string> {
    const rows = await this.table.list();
    const row = Map.groupBy(rows, ({ leadId }) => leadId);
    const faults: string[] = [];
    let values = 0;
    for (const [id, content] of this.expected) {
      const shown = row.get(id) ?? [];
      if (shown.length !== 1) faults.push(`${shown.length} rows of the lead ${id}`);
      const lead = this.sandbox.leads.get(id);
      if (lead === undefined) faults.push(`the lead ${id} is gone`);
      for (const field of leadFields) {
        values += 1;
        const seen = [textOf(field, lead?.[field]), shown[0]?.values[field] ?? null];
        const wanted = content[field] ?? null;
        if (seen.some((value) => value !== wanted))
          faults.push(
            `${id} ${field}: lead and row have ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`,
          );
      }
    }
    const others = this.sandbox.leads.list().filter(({ id }) => !this.expected.has(id));
    if (others.length > 0)
      faults.push(`${others.length} leads too many, such as ${JSON.stringify(others[0])}`);
    if (faults.length === 0) return `${values} values of ${this.expected.size} leads and rows are equal`;
    const told = this.#last?.problems.slice(0, 3).map(({ code, message }) => `${code}: ${message}`) ?? [];
    throw new Differs(
      `${faults.length} differences: ${faults.slice(0, 4).join('; ')}. leadsync said: ${told.join(' ')}`,
    );
  }
}
