import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  type SheetsSandbox,
  type SheetsSandboxOptions,
  startSheetsSandbox,
} from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { type CliResult, oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly code?: string;
  readonly help?: string;
}

/** A spreadsheet of a stand-in, a service, and the real command on both, with a key file as Google hands it out. */
export class Scene implements AsyncDisposable {
  readonly sheets: SheetsSandbox;
  readonly workspace: Workspace;
  readonly keyPath: string;
  /** All that a command has printed so far. */
  said = '';

  private constructor(sheets: SheetsSandbox, workspace: Workspace) {
    this.sheets = sheets;
    this.workspace = workspace;
    this.keyPath = join(workspace.folder, 'key.json');
    writeFileSync(this.keyPath, sheets.keyFile());
    workspace.env['GOOGLE_APPLICATION_CREDENTIALS'] = this.keyPath;
    this.pointTo(sheets.spreadsheetId);
  }

  static async open(options: SheetsSandboxOptions = {}, leads = 5): Promise<Scene> {
    const sheets = await startSheetsSandbox({ quotas: null, timeZone: 'Europe/Berlin', ...options });
    const workspace = await Workspace.open({ sandbox: { leads }, env: { GOOGLE_SHEETS_URL: sheets.url } });
    return new Scene(sheets, workspace);
  }

  pointTo(spreadsheet: string, target: object = {}): void {
    this.workspace.configure({
      target: { type: 'google-sheets', spreadsheet, path: undefined, ...target },
    });
  }

  async cli(...args: readonly string[]): Promise<CliResult> {
    return this.cliWith({}, ...args);
  }

  async cliWith(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<CliResult> {
    const result = await this.workspace.start(args, { env: { LOG_LEVEL: 'trace', ...env } }).ended;
    this.said += result.stdout + result.stderr;
    return result;
  }

  /** The line of `check` for one thing; undefined when there is none. */
  async checked(
    what: string,
    env: NodeJS.ProcessEnv = {},
    ...args: string[]
  ): Promise<CheckLine | undefined> {
    const { checks } = oneObject(await this.cliWith(env, 'check', '--json', ...args)) as unknown as {
      checks: CheckLine[];
    };
    return checks.find(({ name }) => name === `main: ${what}`);
  }

  /** In this process, which costs a tenth of a command. */
  sync(): Promise<SyncReport> {
    return this.workspace.sync();
  }

  async syncByCommand(): Promise<SyncReport> {
    return oneObject(await this.cli('sync', '--json')) as unknown as SyncReport;
  }

  /** How many requests have written so far. */
  get writes(): number {
    return this.sheets.requests.filter(({ kind }) => kind === 'write').length;
  }

  /** Types into the row of a lead. */
  type(leadId: string, heading: string, text: string): void {
    const grid = this.sheets.person.grid('Leads') ?? [];
    const row = grid.findIndex(([id]) => id === leadId);
    this.sheets.person.type('Leads', row, (grid[0] ?? []).indexOf(heading), text);
  }

  shown(leadId: string, heading: string): string | undefined {
    const grid = this.sheets.person.grid('Leads') ?? [];
    return grid.find(([id]) => id === leadId)?.[(grid[0] ?? []).indexOf(heading)];
  }

  /** No output of any command held the key, a part of it, or a token. */
  expectNoSecret(): void {
    const { private_key: key } = JSON.parse(readFileSync(this.keyPath, 'utf8')) as { private_key: string };
    const [, line = ''] = key.split('\n');
    expect(line.length).toBeGreaterThan(40);
    expect(this.said.length).toBeGreaterThan(0);
    expect(this.said).not.toContain(line);
    expect(this.said).not.toContain('PRIVATE KEY');
    expect(this.said).not.toMatch(/ya29|Bearer|eyJ[\w-]+\.eyJ/);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workspace[Symbol.asyncDispose]();
    await this.sheets.close();
  }
}
