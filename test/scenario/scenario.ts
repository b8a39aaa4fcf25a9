import { Buffer } from 'node:buffer';
import type { SandboxBehaviour } from '../../src/demo/options.ts';

/**
 * A story of one connection as plain data. Leads have names for ids. A lead reads `name | company | city | stage |
 * follow-up`, a row the same, the person's own note, and at the end of the story what its status column says unless that
 * is "in step" ("no status": it is empty); no name: no id. Leads that the sync made are named
 * `new1`, `new2` in the order in which they were made.
 */
export interface Scenario {
  readonly title: string;
  /** Settings of the connection's `sync`, and of its target, as leadsync.yaml has them. */
  readonly sync?: Readonly<Record<string, unknown>>;
  readonly target?: Readonly<Record<string, unknown>>;
  /** In the place of those that the columns have by themselves. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly service?: Partial<SandboxBehaviour>;
  /** Absent: acme, bolt and cord, in step. */
  readonly given?: {
    readonly leads: readonly string[];
    /** Null: there is no file yet. */
    readonly rows: readonly string[] | null;
  };
  readonly steps: readonly Step[];
  readonly end: { readonly leads: readonly string[]; readonly rows: readonly string[] };
  /** True: which of two rows alike got which of two leads alike does not matter. */
  readonly anyOrder?: boolean;
  /** True: the story ends before everything has settled, so a further sync would still write. */
  readonly unsettled?: boolean;
}

export type Step =
  | { readonly lead: string; readonly set: Readonly<Record<string, string | null>> }
  /** By name, or by the company of a row without id. */
  | { readonly row: string; readonly set: Readonly<Record<string, string>> }
  | { readonly addLead: string }
  | { readonly addRow: string }
  | { readonly removeLead: string }
  | { readonly removeRow: string }
  | { readonly service: Partial<SandboxBehaviour> }
  /** From here on `fields` are these. */
  | { readonly fields: Readonly<Record<string, unknown>> }
  /** So much time goes by until the next step, as far as deletes are concerned: minutes. */
  | { readonly minutes: number }
  /** The whole file as text, or null to delete it. */
  | { readonly file: string | null }
  /** Decides what is held for `name.field`. */
  | { readonly resolve: string; readonly use: 'lead' | 'row' | 'restore' | 'deleted' }
  /** Decides the match of a lead with a row, the latter by its number. */
  | { readonly match: string; readonly row: number; readonly use: 'link' | 'apart' }
  /** What the status column says, by the row's name as above. */
  | { readonly status: Readonly<Record<string, string>> }
  | { readonly sync: Expected; readonly allow?: readonly string[] };

/** What a sync must say; the plan made just before it must say `plan` and write nothing. */
export interface Expected {
  readonly exit: 0 | 1 | 3 | 4;
  /** Lines such as `update-row acme stage: new → won (lead-edited)`. Absent: not looked at. */
  readonly plan?: readonly string[];
  /** Such as `created 1 leads 2 rows, updated 1 rows`; `nothing`. */
  readonly did: string;
  /** `code name field` for each, in order; absent: none. */
  readonly problems?: readonly string[];
  readonly putOff?: number;
}

export const acme = 'acme | Acme GmbH | Berlin | new | 2031-01-05T09:00:00.000Z';
export const bolt = 'bolt | Bolt AG | Wien | qualified | ';
export const cord = 'cord | Cord & Söhne | Köln | won | 2031-03-01T14:30:00.000Z';

/** A line with some of its parts replaced, counted from 0 (the name). */
export function change(line: string, parts: Readonly<Record<number, string>>): string {
  return line
    .split('|')
    .map((part, index) => parts[index] ?? part.trim())
    .join(' | ');
}

/** A row with another text in its status column than "in step". */
export function shows(line: string, status: string): string {
  const parts = line.split('|').map((part) => part.trim());
  return [...Array.from({ length: 6 }, (_, index) => parts[index] ?? ''), status].join(' | ');
}

/** The row of a lead, with the person's note. */
export function row(line: string, note = ''): string {
  return `${line.trimEnd()} | ${note}`;
}

/** A time-ordered UUID of long ago that is made of the name. */
export function idOf(name: string): string {
  return `01800000-0000-7000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`;
}
