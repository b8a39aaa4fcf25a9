import { join, relative } from 'node:path';
import type { App } from '../app.ts';
import type { Values } from '../core/lead/value.ts';

/** What people do on their side in the demo: a new stage for a lead, or a row of their own without an id. */
export type DemoEdit =
  | { readonly leadId: string; readonly stage: string }
  | { readonly leadId: null; readonly values: Values };

export interface DemoTarget extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** Where people work, such as `file`. */
  readonly place: string;
  /** What is missing before the first sync, as the end of a sentence. */
  readonly missing: string;
  /** What can be seen after the first sync, a line each. */
  filled(): readonly string[];
  edit(app: App, edits: readonly DemoEdit[], signal: AbortSignal): Promise<void>;
  /** What there is to say and to look at in the end, a line each. */
  ended(): readonly string[];
  /** For `demo --json`. */
  result():
    | { readonly file: string }
    | { readonly sheet: readonly (readonly string[])[]; readonly requests: object };
}

export function workbookTarget(folder: string, connection: string): DemoTarget {
  const file = join(folder, 'leads.xlsx');
  return {
    env: { TARGET: file },
    place: 'file',
    missing: 'the file does not exist yet',
    filled: () => [`${shownPath(file)} has a row for each lead; open it in Excel or LibreOffice.`],
    async edit(app, edits, signal) {
      const changes = edits.map((edit) =>
        edit.leadId === null
          ? ({ kind: 'append', key: 'new', leadId: '', values: edit.values } as const)
          : ({
              kind: 'update',
              key: edit.leadId,
              leadId: edit.leadId,
              expect: {},
              values: { stage: edit.stage },
            } as const),
      );
      const outcomes = await app.contexts.get(connection)?.target.write(changes, signal);
      if (outcomes?.every(({ status }) => status === 'done') !== true)
        throw new Error('the file was not edited');
    },
    ended: () => [`${file}   the workbook: open it in Excel or LibreOffice; the new row has its id now`],
    result: () => ({ file }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

export function shownPath(path: string): string {
  return relative(process.cwd(), path) || path;
}
