import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import type { SyncContext } from '../sync/context.ts';
import { IdLook } from './check-ids.ts';
import { type CheckLine, failed, look, never } from './check-line.ts';
import { checkPlace } from './check-place.ts';

type TargetSnapshot = Awaited<ReturnType<SyncContext['target']['open']>>;

/** Checks what a sync needs of the target: account, rows and columns, write permission. `fix`: repairs what it can. */
export async function checkTarget(context: SyncContext, fix: boolean): Promise<CheckLine[]> {
  const { target, connection } = context;
  const test = (what: string, act: () => Promise<string>) => look(`${connection.name}: ${what}`, act);
  const lines: CheckLine[] = [];
  if (target.address) {
    const account = await test('account', async () => describeAccount(await target.address?.()));
    // Everything else needs an account.
    if (!account.ok) return [account];
    lines.push(account);
  }
  if (fix) lines.push(await test('fix', () => mend(context)));
  let closed: readonly string[] = [];
  let unsuited: readonly string[] = [];
  let mayWrite: boolean | null | undefined;
  const ids = new IdLook();
  lines.push(
    await test('target', async () => {
      if (connection.target.type === 'workbook') await checkFolder(connection.target.path);
      const snapshot = await target.open({ create: false }, never);
      closed = snapshot.closed ?? [];
      unsuited = snapshot.unsuited ?? [];
      mayWrite = snapshot.mayWrite;
      return describeRows(context, snapshot, ids);
    }),
  );
  lines.push(...ids.faults().map((fault) => failed(`${connection.name}: ids`, fault)));
  lines.push(...(await checkPlace(context)));
  if (mayWrite !== undefined && mayWrite !== true) {
    const tell = async () => {
      if (mayWrite === null) return notTold;
      throw mayOnlyView(target.name);
    };
    lines.push(await test('access', tell));
  }
  if (closed.length > 0)
    lines.push(await test('columns', () => Promise.reject(notWritable(closed, connection.target.type))));
  if (unsuited.length > 0)
    lines.push(
      await test('column types', () =>
        Promise.reject(new LeadsyncError('target.unsuited', unsuited.join(' ')))),
    );
  return lines;
}

/** Google reveals it only through Drive. */
const notTold =
  "could not tell whether the account may write: Google Drive gave no answer (it is unreachable, or its API is not enabled in the account's project); the first write will show";

function mayOnlyView(name: string): LeadsyncError {
  return new LeadsyncError('target.forbidden', `The account above may view ${name}, but not write to it.`, {
    help: 'Share the spreadsheet with the address above as editor, not as viewer.',
  });
}

function describeAccount(address: string | null | undefined): string {
  return typeof address === 'string'
    ? `${address}; share the spreadsheet with this address, as editor`
    : 'a workload identity without an address; share the spreadsheet with the account it acts as';
}

async function mend({ target, connection }: SyncContext): Promise<string> {
  if ((await target.fix?.(never)) !== true) return 'nothing had to be fixed';
  return connection.target.type === 'hubspot'
    ? `${target.name} lacked mapped properties or options; they were created`
    : `${target.name} was a copy; it is the target from now on`;
}

async function describeRows(
  { target, connection }: SyncContext,
  snapshot: TargetSnapshot,
  ids: IdLook,
): Promise<string> {
  let rows = 0;
  let unread = 0;
  let hasStatus = true;
  let first = '';
  for await (const batch of snapshot.rows) {
    rows += batch.length;
    for (const one of batch) {
      const { row, cells, status } = one;
      ids.see(one);
      hasStatus &&= status !== null;
      for (const { field, column } of connection.fields) {
        const cell = cells[field];
        if (typeof cell !== 'object' || cell === null) continue;
        unread += 1;
        const item = connection.target.type === 'hubspot' ? 'company' : 'row';
        if (unread === 1) first = `${item} ${row}, ${column}: ${cell.unreadable}`;
      }
    }
  }
  if (snapshot.missing.length > 0) {
    const messages = snapshot.missing.map(({ message }) => message);
    throw new LeadsyncError('target.column-missing', messages.join(' '));
  }
  const { statusColumn } = connection.target;
  if (statusColumn !== undefined && !hasStatus) {
    const isHubSpot = connection.target.type === 'hubspot';
    const column = isHubSpot ? 'text property named' : 'single column headed';
    const message = `${target.name} has no ${column} ${JSON.stringify(statusColumn)}`;
    const add = isHubSpot ? 'leadsync check --fix creates it' : 'Add it (statusColumn)';
    throw new LeadsyncError('target.column-missing', message, {
      help: `${add}; until then no row shows its status.`,
    });
  }
  const dates = snapshot.timeZone === undefined ? '' : `, dates in ${snapshot.timeZone}`;
  const unreadable =
    unread === 0 ? '' : `; ${counted(unread, 'cell')} cannot be read and will be held, such as ${first}`;
  return `${target.name}: ${counted(rows, 'row')}, all mapped columns exist or will be created${dates}${unreadable}`;
}

/** Why columns are not writable, and what helps. */
const closedBy = {
  workbook: ['Protected', 'Let leadsync edit them.'],
  'google-sheets': [
    'Protected, wholly or in part',
    'Let the account above edit them: Data > Protect sheets and ranges.',
  ],
  hubspot: ['Filled only by HubSpot', 'Map other properties, or give these fields the direction to-leads.'],
  'postgres-table': [
    'Filled only by the database, or without UPDATE permission',
    'Grant the right, or give these fields the direction to-leads.',
  ],
} as const;

function notWritable(columns: readonly string[], type: keyof typeof closedBy): LeadsyncError {
  const [why, help] = closedBy[type];
  const message = `${why}: ${columns.join(', ')}. Changes to them are held.`;
  return new LeadsyncError('target.cell-not-writable', message, { help });
}

async function checkFolder(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw new LeadsyncError('target.not-writable', `the folder of ${path} is missing or cannot be written`, {
      cause,
    });
  });
}
