import pg from 'pg';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError, type Retry } from '../../errors.ts';
import { readInstant } from '../../lead/instant.ts';
import { type Cell, sameCell, type Value } from '../../lead/value.ts';
import { visibleText } from '../../visible-text.ts';
import { type ColumnMapping, headingRank, locateColumns, ownedColumns, shownStatus } from '../columns.ts';
import { type PresentRow, RowChanges, type RowDecisions } from '../row-changes.ts';
import type { RowChange, RowOutcome, Target, TargetRow, TargetSnapshot } from '../target.ts';

export interface PostgresTableOptions extends ColumnMapping {
  readonly url: Secret;
  /** `table` or `schema.table`, as it is spelled in the database. */
  readonly table: string;
  /** IANA zone in which a date without offset is meant. */
  readonly timeZone: string;
}

type Place = { readonly ctid: string; readonly hasOwn: boolean };
type Texts = (string | null)[];
type Ask = <T extends unknown[] = Texts>(text: string, values?: readonly unknown[]) => Promise<T[]>;
type Table = ReturnType<typeof describe>;
type CatalogueRow = [
  name: string,
  isMoment: boolean,
  notNull: boolean,
  isKey: boolean,
  isClosed: boolean,
  isMade: boolean,
  fallback: string | null,
];

const rowsAtOnce = 1_000;

const catalogue = `
  select a.attname, a.atttypid = 'timestamptz'::regtype, a.attnotnull, coalesce(a.attnum = any(i.indkey), false),
    a.attgenerated <> '' or a.attidentity = 'a' or not has_column_privilege(c.oid, a.attnum, 'update'),
    a.attgenerated <> '' or a.attidentity <> '', pg_get_expr(d.adbin, d.adrelid)
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.oid = to_regclass($1) and c.relkind = 'r' order by a.attnum`;

/** By the beginning of the SQLSTATE (PostgreSQL, appendix A); anything else is `target.refused`. */
const faults: readonly (readonly [state: string, code: string, retry: Retry, what: string])[] = [
  ['28', 'target.unauthenticated', 'never', 'the user or the password is not accepted'],
  ['42501', 'target.forbidden', 'never', 'SELECT, INSERT, UPDATE and DELETE have to be granted'],
  ['42P01', 'target.not-found', 'never', 'there is no such table'],
  ['3D', 'target.not-found', 'never', 'there is no such database'],
  ['3F', 'target.not-found', 'never', 'there is no such schema'],
  ['25006', 'target.not-writable', 'never', 'the database is read-only'],
  ['53100', 'target.disk-full', 'later', 'its disk is full'],
  ['55P03', 'target.busy', 'later', 'somebody holds rows locked'],
  ['40', 'target.changed', 'now', 'somebody else wrote at the same moment'],
  ['42703', 'target.changed', 'now', 'its columns were changed meanwhile'],
  ['08', 'target.unavailable', 'later', 'the connection failed'],
  ['53', 'target.unavailable', 'later', 'the server has no room for us'],
  ['57', 'target.unavailable', 'later', 'the server is going down or coming up'],
  ['58', 'target.unavailable', 'later', "the server's system fails"],
];

/**
 * Any PostgreSQL table as a target. Its rows are in the order of the primary key, or of the id column where there is
 * none, numbered from 1. A write is one transaction that locks the rows it is about before it looks at them. What a
 * column does not take, or gives back otherwise than it was written, is held. The table is read as a whole.
 */
export function createPostgresTableTarget(options: PostgresTableOptions): Target {
  const table = options.table.split('.').map(pg.escapeIdentifier).join('.');
  const name = `table ${options.table}`;
  let requests = 0;

  /** One connection, one transaction: whatever goes wrong, nothing of it is done. */
  async function transaction<T>(signal: AbortSignal, work: (ask: Ask) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const connectionString = options.url.reveal();
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
    // A connection that breaks rejects its query; without a listener it would end the process as well.
    client.on('error', () => {});
    const ask: Ask = async <R extends unknown[]>(text: string, values: readonly unknown[] = []) => {
      requests++;
      const query = { text, values: [...values], rowMode: 'array' } as const;
      return (await client.query<R>(query).catch((error: unknown) => raise(error, name))).rows;
    };
    try {
      await client.connect().catch((error: unknown) => raise(error, name));
      await ask('begin');
      await ask(`select set_config('lock_timeout', '10s', true), set_config('timezone', 'UTC', true)`);
      const result = await work(ask);
      signal.throwIfAborted();
      await ask('commit');
      return result;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async function find(ask: Ask): Promise<Table | null> {
    const columns = await ask<CatalogueRow>(catalogue, [table]);
    return columns.length === 0 ? null : describe(columns, options, name);
  }

  /** Decides on one change and writes it; `rows` is kept as the table is afterwards. */
  async function carryOut(
    change: RowChange,
    rows: PresentRow<Place>[],
    found: Table,
    ask: Ask,
  ): Promise<RowOutcome> {
    const changing = new RowChanges<Place>([change], {
      fields: new Set(found.columns.fields.keys()),
      hasStatus: found.columns.status !== null,
      hasOwnCells: (place) => place.hasOwn,
      notStorable: (text) => (text.includes('\0') ? 'PostgreSQL keeps no NUL characters.' : null),
    });
    for (const row of rows) changing.see(row);
    const decided = changing.decide();
    const { outcomes, writes, appends } = decided;
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error('a change without outcome');
    const [place] = writes.map((write) => write.place);
    if (place === undefined && appends.length === 0) return outcome;
    const at = place === undefined ? rows.length : rows.findIndex((row) => row.place === place);
    await ask('savepoint before_change');
    try {
      rows.splice(at, 1, ...(await store(decided, place, found, ask)));
      await ask('release savepoint before_change');
      return outcome;
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'target.refused') throw error;
      await ask('rollback to savepoint before_change');
      const message = `${error.message} The row was left as it is.`;
      return { key: change.key, status: 'held', code: 'target.value-not-storable', message };
    }
  }

  /** Gives the row as it is now, none when it is gone. Throws `target.refused` for a row that cannot be so. */
  async function store(
    { writes: [write], appends: [added] }: RowDecisions<Place>,
    place: Place | undefined,
    found: Table,
    ask: Ask,
  ): Promise<PresentRow<Place>[]> {
    const where = 'where ctid = $1::tid';
    if (write?.remove === true && place?.hasOwn === false) {
      await ask(`delete from ${table} ${where}`, [place.ctid]);
      return [];
    }
    const { id, status, fields } = found.columns;
    const cells = new Map<number, Value>();
    if (write?.remove === true) for (const index of ownedColumns(found.columns)) cells.set(index, null);
    if (write?.unlink === true) cells.set(id, null);
    const { leadId = null, values = {}, status: text = null } = added ?? write ?? {};
    if (leadId !== null) cells.set(id, leadId.trim());
    if (text !== null && status !== null) cells.set(status, text);
    for (const [field, { index }] of fields) if (field in values) cells.set(index, values[field] ?? null);
    const names = [...cells.keys()].map((index) => found.quoted(index));
    const stored = [...cells].map(([index, value]) => found.stored(index, value));
    const [texts] = await (place === undefined
      ? ask(
          `insert into ${table} (${names.join()}) values (${names.map((_, n) => `$${n + 1}`).join()})
           returning ${found.selection}`,
          stored,
        )
      : ask(
          `update ${table} set ${names.map((column, n) => `${column} = $${n + 2}`).join()} ${where}
           returning ${found.selection}`,
          [place.ctid, ...stored],
        ));
    if (texts === undefined) throw refused('A rule of the table keeps the row from being written.');
    for (const [index, value] of cells) {
      if (!sameCell(found.cell(index, texts), value))
        throw refused(`The column ${found.quoted(index)} keeps something else than what was written.`);
    }
    return [found.row(texts)];
  }

  return {
    name,
    batchSize: 500,
    get requests() {
      return requests;
    },

    open: ({ create }, signal) =>
      transaction(signal, async (ask): Promise<TargetSnapshot> => {
        const present = await find(ask);
        if (present === null && !create) return { missing: [], created: false, rows: inBatches([]) };
        if (present === null) await ask(`create table ${table} (${definitions(options)})`);
        const found = present ?? (await find(ask)) ?? raiseMissing(name);
        const all = await ask(`select ${found.selection} from ${table} order by ${found.order}`);
        const rows = all.flatMap((texts, index) => {
          const { leadId, cells, status } = found.row(texts);
          if (leadId === null && Object.values(cells).every((cell) => cell === null)) return [];
          return [{ row: index + 1, leadId, cells, status: shownStatus(found.columns, status) }];
        });
        const { closed, columns } = found;
        return { missing: columns.missing, created: present === null, closed, rows: inBatches(rows) };
      }),

    write: (changes, signal) =>
      transaction(signal, async (ask) => {
        const found = (await find(ask)) ?? raiseMissing(name);
        // Writers of ours take turns, so that none adds a row that another is adding.
        await ask('select pg_advisory_xact_lock(to_regclass($1)::oid::bigint)', [table]);
        const ids = changes.flatMap(({ kind, leadId }) => [
          leadId?.trim() ?? '',
          kind === 'link' ? '' : null,
        ]);
        const texts = await ask(
          `select ${found.selection} from ${table} where ${found.idText} = any($1)
           order by ${found.order} for update`,
          [ids],
        );
        const rows = texts.map((row) => found.row(row));
        const outcomes: RowOutcome[] = [];
        for (const change of changes) {
          signal.throwIfAborted();
          outcomes.push(await carryOut(change, rows, found, ask));
        }
        return outcomes;
      }),
  };
}

/** The table by its catalogue. Throws as `locateColumns` does. */
function describe(catalogued: readonly CatalogueRow[], options: PostgresTableOptions, name: string) {
  const names = catalogued.map(([column]) => column);
  if (headingRank(names, options) === 0) {
    throw new LeadsyncError('target.header-missing', `${name} has none of the columns that are mapped.`, {
      help: `Add a column ${JSON.stringify(options.idColumn)} (text), or name the one that holds the ids (idColumn).`,
    });
  }
  const columns = locateColumns(names, options, name);
  const instants = new Set(
    [...columns.fields.values()].flatMap((field) => (field.type === 'instant' ? field.index : [])),
  );
  const quoted = (index: number) => pg.escapeIdentifier(names[index] ?? '');
  const isMoment = (index: number) => instants.has(index) && catalogued[index]?.[1] === true;
  const idText = String.raw`btrim(coalesce(${quoted(columns.id)}::text, ''), E' \t\n\x0b\f\r')`;
  const owned = [...ownedColumns(columns)];
  const own = catalogued.flatMap(([, , , isKey, , isMade, fallback], index) => {
    // Where a default is computed, as the time of making, nobody has written anything.
    if (owned.includes(index) || isKey || isMade || /\w\(|^CURRENT_|^LOCAL/.test(fallback ?? '')) return [];
    return `coalesce(${quoted(index)}::text, '') not in ('', coalesce((${fallback ?? 'null'})::text, ''))`;
  });
  const shown = owned.map((index) => {
    if (index === columns.id) return idText;
    return isMoment(index)
      ? `floor(extract(epoch from ${quoted(index)}) * 1000)::text`
      : `${quoted(index)}::text`;
  });
  const keys = catalogued.flatMap(([, , , isKey], index) => (isKey ? quoted(index) : []));

  const cell = (index: number, texts: Texts): Cell => {
    const text = texts[owned.indexOf(index) + 2] ?? '';
    if (text === '' || !instants.has(index)) return text === '' ? null : text;
    const date = new Date(isMoment(index) ? Number(text) : NaN);
    const instant = Number.isNaN(date.getTime()) ? readInstant(text, options.timeZone) : date.toISOString();
    return instant ?? { unreadable: text };
  };
  /** An id and a status are text whatever they are kept in. */
  const plain = (index: number, texts: Texts): Value => texts[owned.indexOf(index) + 2] || null;
  return {
    columns,
    quoted,
    cell,
    idText,
    selection: ['ctid::text', `(${['false', ...own].join(' or ')})::text`, ...shown].join(', '),
    order: [...(keys.length > 0 ? keys : [`${quoted(columns.id)} nulls last`]), 'ctid'].join(', '),
    closed: owned.flatMap((index) => (catalogued[index]?.[4] === true ? (names[index] ?? []) : [])),
    /** A value as the column takes it. */
    stored: (index: number, value: Value): Value => {
      if (value === null || value === '') return catalogued[index]?.[2] === true ? '' : null;
      return isMoment(index) ? momentText(value) : value;
    },
    row: (texts: Texts): PresentRow<Place> => ({
      leadId: plain(columns.id, texts),
      status: columns.status === null ? null : plain(columns.status, texts),
      cells: Object.fromEntries([...columns.fields].map(([field, { index }]) => [field, cell(index, texts)])),
      place: { ctid: texts[0] ?? '', hasOwn: texts[1] === 'true' },
    }),
  };
}

function definitions({ idColumn, fields, statusColumn }: ColumnMapping): string {
  const mapped = fields.map(
    ({ column, type }) => `${pg.escapeIdentifier(column)} ${type === 'instant' ? 'timestamptz' : 'text'}`,
  );
  const status = statusColumn === undefined ? [] : [`${pg.escapeIdentifier(statusColumn)} text`];
  return [`${pg.escapeIdentifier(idColumn)} text unique`, ...mapped, ...status].join(', ');
}

/** PostgreSQL writes years beyond 9999 without a sign, and those before year 1 as BC. */
function momentText(instant: string): string {
  const [, year = '', rest = ''] = /^([+-]\d{6}|\d{4})(.*)$/.exec(instant) ?? [];
  const number = Number(year);
  const digits = String(number > 0 ? number : 1 - number).padStart(4, '0');
  return `${digits}${rest}${number > 0 ? '' : ' BC'}`;
}

async function* inBatches(rows: readonly TargetRow[]): AsyncGenerator<readonly TargetRow[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce);
}

function refused(message: string): LeadsyncError {
  return new LeadsyncError('target.refused', message);
}

function raiseMissing(name: string): never {
  throw new LeadsyncError(
    'target.not-found',
    `There is no ${name}: it was dropped, or is no ordinary table.`,
  );
}

/** What PostgreSQL answered, or that it did not, as the port's fault. */
function raise(error: unknown, name: string): never {
  const said = error instanceof Error ? visibleText(error.message, 200) : '';
  if (!(error instanceof pg.DatabaseError)) {
    const message = `The database of ${name} cannot be reached, or the connection broke: ${said}`;
    throw new LeadsyncError('target.unavailable', message, { retry: 'later' });
  }
  const fault = faults.find(([state]) => error.code?.startsWith(state));
  if (fault === undefined) throw refused(`PostgreSQL refuses it: ${said}.`);
  const [, code, retry, what] = fault;
  throw new LeadsyncError(code, `${name}: ${what} (${said}).`, { retry });
}
