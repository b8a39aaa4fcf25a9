import { counted } from '../core/lead/wording.ts';
import { isUnreadable, showCell } from '../core/lead/value.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { wasEverInStep } from '../store/pairs.ts';
import { currentPlace, findPlace, keyOf, placeNames } from '../store/places.ts';
import type { SyncContext } from '../sync/context.ts';
import { copiesNote, placeShared } from '../sync/which-place.ts';
import { never } from '../lib/waiting.ts';

type TargetSnapshot = Awaited<ReturnType<SyncContext['target']['open']>>;

export async function checkTarget(context: SyncContext, fix: boolean): Promise<CheckLine[]> {
  const { target, connection } = context;
  const test = (what: string, act: () => Promise<string>) => runCheck(`${connection.name}: ${what}`, act);
  const lines: CheckLine[] = [];
  if (target.address) {
    const account = await test('account', async () => describeAccount(await target.address?.()));
    // Everything else needs an account.
    if (!account.ok) return [account];
    lines.push(account);
  }
  if (fix) lines.push(await test('fix', () => mend(context)));
  const seen = new Seen();
  lines.push(
    await test('target', async () => {
      const how = await target.assertWritable?.(never);
      seen.snapshot = await target.open({ create: false }, never);
      const rows = await describeRows(context, seen.snapshot, seen);
      return how ? `${rows}; ${how}` : rows;
    }),
  );
  const { closed = [], unsuited = [], mayWrite } = seen.snapshot ?? {};
  const fail = (what: string, error: LeadsyncError): void =>
    void lines.push(failed(`${connection.name}: ${what}`, error));
  for (const fault of idFaults(seen)) fail('ids', fault);
  lines.push(...(await checkPlace(context)), ...(await checkCopies(context)));
  if (mayWrite === null) lines.push(passed(`${connection.name}: access`, notTold));
  if (mayWrite === false) fail('access', mayOnlyView(target.name));
  if (closed.length > 0) fail('columns', notWritable(closed, connection.target.type));
  if (unsuited.length > 0) fail('column types', new LeadsyncError('target.unsuited', unsuited.join(' ')));
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
    : 'no service account: the spreadsheet must be shared with whoever signed in, or whom the workload identity acts as';
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
  seen: Seen,
): Promise<string> {
  const item = connection.target.type === 'hubspot' ? 'company' : 'row';
  for await (const batch of snapshot.rows) {
    seen.rows += batch.length;
    for (const { row, cells, status, unreadableId, idClosed } of batch) {
      if (unreadableId !== undefined)
        seen.unreadableIds.see(`row ${row}: ${showCell({ unreadable: unreadableId })}`);
      else if (idClosed !== undefined) seen.closedIds.see(`row ${row}: ${idClosed}`);
      seen.hasStatus &&= status !== null;
      for (const { field, column } of connection.fields) {
        const cell = cells[field];
        if (!isUnreadable(cell)) continue;
        if (cell.why === 'unmapped') seen.seeWord(`${column} ${showCell(cell)}`);
        else seen.unreadCells.see(`${item} ${row}, ${column}: ${cell.unreadable}`);
      }
    }
  }
  if (snapshot.missing.length > 0) {
    const messages = snapshot.missing.map(({ message }) => message);
    throw new LeadsyncError('target.column-missing', messages.join(' '));
  }
  const { statusColumn } = connection.target;
  if (statusColumn !== undefined && !seen.hasStatus) {
    const isHubSpot = connection.target.type === 'hubspot';
    const column = isHubSpot ? 'text property named' : 'single column headed';
    const message = `${target.name} has no ${column} ${JSON.stringify(statusColumn)}`;
    const add = isHubSpot ? 'leadsync check --fix creates it' : 'Add it (statusColumn)';
    throw new LeadsyncError('target.column-missing', message, {
      help: `${add}; until then no row shows its status.`,
    });
  }
  const zone = snapshot.timeZone;
  const dates = zone === undefined ? '' : `, dates in ${zone}`;
  const others =
    zone === undefined || zone === connection.sync.timeZone
      ? ''
      : `; sync.timeZone is ${connection.sync.timeZone}: set both alike, or a date without a time is no day, but midnight`;
  const hint = snapshot.hint === undefined ? '' : `; ${snapshot.hint}`;
  const { count, first } = seen.unreadCells;
  const unreadable =
    count === 0 ? '' : `; ${counted(count, 'cell')} cannot be read and will be held, such as ${first}`;
  const strange =
    seen.words.size === 0 ? '' : `; held, since \`values\` lacks the word: ${describeWords(seen.words)}`;
  return `${target.name}: ${counted(seen.rows, 'row')}, all mapped columns exist or will be created${dates}${others}${unreadable}${strange}${hint}`;
}

const wordsShown = 10;

/** Words with their numbers of cells, the most frequent first. */
function describeWords(words: ReadonlyMap<string, number>): string {
  const often = [...words].toSorted(([, a], [, b]) => b - a);
  const shown = often.slice(0, wordsShown).map(([word, times]) => `${word} (${counted(times, 'cell')})`);
  const more = often.length - shown.length;
  return shown.join(', ') + (more > 0 ? `, and ${more} more` : '');
}

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

class Tally {
  count = 0;
  first = '';

  see(example: string): void {
    if (this.count === 0) this.first = example;
    this.count += 1;
  }
}

/** The target, and what its rows show: ids that cannot be read, or cannot be written, cells that cannot be read. */
class Seen {
  snapshot: TargetSnapshot | null = null;
  rows = 0;
  hasStatus = true;
  readonly unreadableIds = new Tally();
  readonly closedIds = new Tally();
  readonly unreadCells = new Tally();
  /** Words that stand for nothing in the service, below their headings, with how many cells show them. */
  readonly words = new Map<string, number>();

  seeWord(word: string): void {
    this.words.set(word, (this.words.get(word) ?? 0) + 1);
  }
}

function idFaults({ unreadableIds, closedIds }: Seen): readonly LeadsyncError[] {
  const faults: LeadsyncError[] = [];
  if (unreadableIds.count > 0) {
    const message = `${counted(unreadableIds.count, 'row shows', 'rows show')} in the id cell something that is no id and cannot be overwritten, such as ${unreadableIds.first}. Such rows are held, and until this is fixed no row counts as deleted`;
    const help =
      'Type each id there as plain text, or empty the cell: a row that shows what its lead shows gets its id back.';
    faults.push(new LeadsyncError('row.id-unreadable', message, { help }));
  }
  if (closedIds.count > 0) {
    const message = `no id can be written into ${counted(closedIds.count, 'row')} without one, such as ${closedIds.first} No leads are created from them`;
    const help = 'Let leadsync write the id column.';
    faults.push(new LeadsyncError('row.id-closed', message, { help }));
  }
  return faults;
}

async function checkPlace({ target, connection, pool }: SyncContext): Promise<CheckLine[]> {
  const { name } = connection;
  // The previous line reports an inaccessible target.
  const found = (await target.place?.(never).catch(() => null)) ?? null;
  const current = await currentPlace(pool, name);
  if (found === null || current === null) return [];
  const known = await findPlace(pool, name, found);
  if (known?.wasCurrent === true && !found.isThere && (await wasEverInStep(pool, keyOf(known)))) {
    const gone = await runCheck(`${name}: place`, async () => {
      await target.open({ create: false, wasFilled: true }, never);
      return found.address;
    });
    if (!gone.ok) return [gone];
  }
  const [shared] = await placeShared(pool, { connection: name, identity: found.id, address: found.address });
  const sentences = shared === undefined ? [] : [`${shared.message}.`];
  if (known?.isCurrent !== true) {
    const next =
      known?.wasCurrent === true
        ? 'the next sync goes on from where it was left'
        : 'the next sync is its first, unless the other one was moved here';
    const { here, before } = placeNames({
      here: { address: found.address, identity: found.id },
      before: current,
    });
    sentences.unshift(`${here} is not ${before}, which this connection synced so far: ${next}.`);
  }
  if (sentences.length === 0) return [];
  const line = { name: `${name}: place`, ok: shared === undefined, message: sentences.join(' ') };
  return [{ ...line, ...(shared !== undefined && { code: shared.code }) }];
}

async function checkCopies({ target, connection }: SyncContext): Promise<CheckLine[]> {
  // An earlier line reports an inaccessible target.
  const copies = (await target.conflictCopies?.(never).catch(() => [])) ?? [];
  const line = `${connection.name}: conflict copies`;
  return copiesNote(target.name, copies).map(({ code, message }) => ({
    ...passed(line, message),
    warning: true,
    code,
  }));
}

export interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  /** Does not fail the check, but should be fixed. */
  readonly warning?: true;
  readonly message: string;
  readonly code?: string;
  readonly help?: string;
}

/** The line for the success message of `test`, or for the LeadsyncError it throws. */
export async function runCheck(name: string, test: () => Promise<string>): Promise<CheckLine> {
  try {
    return passed(name, await test());
  } catch (error) {
    if (error instanceof LeadsyncError) return failed(name, error);
    throw error;
  }
}

export function passed(name: string, message: string): CheckLine {
  return { name, ok: true, message };
}

export function failed(name: string, error: LeadsyncError): CheckLine {
  return {
    name,
    ok: false,
    message: error.message,
    code: error.code,
    ...(error.help !== undefined && { help: error.help }),
  };
}

export function describeLine({ name, ok, warning, message, code, help }: CheckLine): string {
  const more = help === undefined ? '' : `\n          ${help}`;
  return `${ok ? (warning ? 'warn' : 'ok  ') : 'FAIL'}  ${name}: ${message}${ok ? '' : ` [${code}]${more}`}`;
}
