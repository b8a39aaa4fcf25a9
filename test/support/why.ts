import { expect } from 'vitest';
import type { CliResult } from './cli.ts';
import type { Workspace } from './workspace.ts';

interface Write {
  readonly run: string;
  readonly at: string;
  readonly rule: string;
  readonly side: string;
  readonly base?: string | null;
  readonly lead?: string | null;
  readonly row?: string | null;
  readonly written: string | null;
}

export interface Told {
  readonly leadId: string;
  readonly connection: string;
  readonly knownSince: string | null;
  readonly deletedAt: string | null;
  readonly historySince: string | null;
  readonly deletions: readonly { readonly kind: string; readonly reason: string }[];
  readonly held: readonly { readonly id: string; readonly code: string }[];
  readonly fields: Readonly<
    Record<
      string,
      { readonly base?: string | null; readonly held: object | null; readonly history: readonly Write[] }
    >
  >;
}

export async function why(workspace: Workspace, ...args: string[]): Promise<Told> {
  const result = await workspace.cli('why', ...args, '--json');
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/^\{.*\}\n$/);
  return result.json<Told>();
}

export function refused(result: CliResult): { code: string; message: string; help: string } {
  expect(result.code).toBe(2);
  return result.json<{ error: { code: string; message: string; help: string } }>().error;
}

/** A lead with a row, both in step. */
export async function pair(workspace: Workspace, cells: object = {}): Promise<string> {
  const { id } = workspace.sandbox.leads.add({
    companyName: 'Acme',
    city: 'Ulm',
    stage: 'new',
    nextFollowUpAt: null,
    ...cells,
  });
  await workspace.sync();
  return id;
}

export const rules = (told: Told, field: string): string[] =>
  (told.fields[field]?.history ?? []).map(({ rule }) => rule);
