import pg from 'pg';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError } from '../../errors.ts';
import { readInstant } from '../../lead/instant.ts';
import { type Cell, sameCell, type Value } from '../../lead/value.ts';
import { visibleText } from '../../visible-text.ts';
import { type ColumnMapping, headingRank, locateColumns, ownedColumns, shownStatus } from '../columns.ts';
import { type PresentRow, RowChanges, type RowDecisions } from '../row-changes.ts';
import type { RowChange, RowOutcome, Target, TargetRow } from '../target.ts';
import { raise, refused } from './postgres-fault.ts';
import { refuseTooMuch } from './refuse-too-much.ts';

export interface PostgresTableOptions extends ColumnMapping {
  readonly url: Secret;
  /** `table` or `schema.table`, as it is spelled in the database. */
  readonly table: string;
  /** IANA zone in which a date without offset is meant. */
  readonly timeZone: string;
  /** Of what is read of the table at once; default: 256 MiB. */
  readonly mostBytes?: number;
}

type Place = { readonly ctid: string; readonly hasOwn: boolean };
type Texts = (string | null)[];
type Ask = (text: string, values?: readonly unknown[]) => Promise<Texts[]>;
type Table = NonNullable<Awaited<ReturnType<typeof describe>>>;

const rowsAtOnce = 1_000;

/** For one statement; a server that went away without a word would otherwise be waited for without end. */
const mostMs = 10 * 60_000;

/** Rows stay locked for no longer when we are the ones who went away. Moments are read in one form, whatever is set. */
const settings = `select set_config('lock_timeout', '10s', true), set_config('timezone', 'UTC', true),
  set_config('datestyle', 'ISO', true), set_config('idle_in_transaction_session_timeout', '5min', true)`;

/** A default that the database fills in by itself: nobody has written that. */
const automatic = String.raw`^(nextval|now|timezone|gen_random_uuid|uuidv?\w*|\w+_timestamp)\(|^CURRENT_|^LOCAL`;

/**
 * Of each column: name, type, whether it is NOT NULL, of the primary key, not ours to write; what tells that a person has
 * filled it (null: nothing can). Of defaults only constants are looked at: others may do something. Of the table: whether
 * it is an ordinary one, whose rows a ctid tells apart; whether deleting a row deletes or empties rows of other tables.
 */
const catalogue = String.raw`
  select a.attname, a.atttypid::regtype::text, a.attnotnull::text, (a.attnum = any(i.indkey))::text,
    (a.attgenerated <> '' or a.attidentity = 'a' or not has_column_privilege(c.oid, a.attnum, 'update'))::text,
    case when a.attgenerated = '' and a.attidentity = '' and (a.attnum = any(i.indkey)) is not true
        and coalesce(e.preset, '') !~ '${automatic}'
      then format('coalesce(%I::text, '''') not in ('''', coalesce((%s)::text, ''''))', a.attname,
        case when e.preset ~ '\w\(' then 'null' else coalesce(e.preset, 'null') end) end,
    (c.relkind = 'r' and not exists (select from pg_inherits where inhparent = c.oid))::text,
    exists (select from pg_constraint where confrelid = c.oid and confdeltype in ('c', 'd', 'n'))::text
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
    cross join lateral (select pg_get_expr(d.adbin, d.adrelid) as preset) e
  where c.oid = to_regclass($1) order by a.attnum`;

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
    const client = openClient(options.url, name);
    // A connection that breaks rejects its query; without a listener it would end the process as well.
    client.on('error', () => {});
    const stop = (): void => void client.end().catch(() => {});
    signal.addEventListener('abort', stop, { once: true });
    const ask: Ask = async (text, values = []) => {
      requests++;
      const query = { text, values: [...values], rowMode: 'array' } as const;
      return (await client.query<Texts>(query).catch((error: unknown) => raise(error, name))).rows;
    };
    try {
      await client.connect().catch((error: unknown) => raise(error, name));
      await ask('begin');
      await ask(settings);
      // What is refused has to be refused while it is known which change it was.
      await ask('set constraints all immediate');
      const result = await work(ask);
      signal.throwIfAborted();
      await ask('commit');
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await client.end().catch(() => {});
    }
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
    const [outcome] = decided.outcomes;
    if (outcome === undefined) throw new Error('a change without outcome');
    if (decided.writes.length + decided.appends.length === 0) return outcome;
    const place = decided.writes[0]?.place;
    const at = place === undefined ? rows.length : rows.findIndex((row) => row.place === place);
    await ask('savepoint before_change');
    try {
      rows.splice(at, 1, ...(await store(decided, found, ask)));
      await ask('release savepoint before_change');
      return outcome;
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'target.refused') throw error;
      await ask('rollback to savepoint before_change');
      const message = `${error.message} The row was left as it is.`;
      return { key: change.key, status: 'held', code: 'target.value-not-storable', message };
    }
  }

  /** Gives the row as it is now, none when it is gone. Throws `target.refused` for what cannot be stored so. */
  async function store({ writes: [write], appends: [added] }: RowDecisions<Place>, found: Table, ask: Ask) {
    const at = `where ctid = '${write?.place.ctid}'::tid`;
    if (write?.remove === true && !write.place.hasOwn) {
      await ask(`delete from ${table} ${at}`);
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
    const columns = [...cells.keys()].map(found.quoted).join();
    const marks = [...cells.keys()].map((_, n) => `$${n + 1}`).join();
    const statement =
      write === undefined
        ? `insert into ${table} (${columns}) values (${marks})`
        : `update ${table} set (${columns}) = row(${marks}) ${at}`;
    const stored = [...cells].map(([index, value]) => value || found.nothing(index));
    const [texts] = await ask(`${statement} returning ${found.selection}`, stored);
    if (texts === undefined) throw refused('A rule of the table keeps the row from being written.');
    const other = [...cells].find(([index, value]) => !sameCell(found.cell(index, texts), value));
    if (other !== undefined)
      throw refused(`The column ${found.quoted(other[0])} keeps something else than was written.`);
    return [found.row(texts)];
  }

  return {
    name,
    batchSize: 500,
    get requests() {
      return requests;
    },

    open: ({ create }, signal) =>
      transaction(signal, async (ask) => {
        const present = await describe(ask, table, options);
        if (present === null && !create) return { missing: [], created: false, rows: inBatches([]) };
        if (present === null) await ask(`create table ${table} (${definitions(options)})`);
        const found = present ?? (await describe(ask, table, options)) ?? raiseMissing(name);
        await refuseTooMuch(ask, `select ${found.selection} from ${table}`, name, options.mostBytes);
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
        const found = (await describe(ask, table, options)) ?? raiseMissing(name);
        // Writers of ours take turns, so that none adds a row that another is adding.
        await ask('select pg_advisory_xact_lock(to_regclass($1)::oid::bigint)', [table]);
        const ids = changes.flatMap(({ kind, leadId }) => [
          leadId?.trim() ?? '',
          kind === 'link' ? '' : null,
        ]);
        const wanted = `where ${found.idText} = any($1) order by ${found.order} for update`;
        const texts = await ask(`select ${found.selection} from ${table} ${wanted}`, [ids]);
        const rows = texts.map(found.row);
        const outcomes: RowOutcome[] = [];
        for (const change of changes) {
          signal.throwIfAborted();
          outcomes.push(await carryOut(change, rows, found, ask));
        }
        return outcomes;
      }),
  };
}

/** Throws `target.bad-url` for an address that names a certificate that is not there, for example. */
function openClient(url: Secret, name: string): pg.Client {
  const bounds = { connectionTimeoutMillis: 10_000, query_timeout: mostMs };
  try {
    return new pg.Client({ connectionString: url.reveal(), ...bounds });
  } catch (error) {
    const said = error instanceof Error ? visibleText(error.message, 200) : '';
    const message = `The address of the database of ${name} cannot be used: ${said}.`;
    throw new LeadsyncError('target.bad-url', message);
  }
}

/** The table by its catalogue, null when there is none. Throws as `locateColumns` does. */
async function describe(ask: Ask, table: string, options: PostgresTableOptions) {
  const catalogued = await ask(catalogue, [table]);
  if (catalogued.length === 0) return null;
  const names = catalogued.map(([column]) => column ?? '');
  const name = `table ${options.table}`;
  if (catalogued[0]?.[6] !== 'true') {
    const message = `${name} is no ordinary table: a view, or one that others are parts of or inherit from.`;
    throw new LeadsyncError('target.unreadable', message);
  }
  if (headingRank(names, options) === 0) {
    throw new LeadsyncError('target.header-missing', `${name} has none of the columns that are mapped.`, {
      help: `Add a column ${JSON.stringify(options.idColumn)} (text), or name the one that holds the ids (idColumn).`,
    });
  }
  const columns = locateColumns(names, options, name);
  const owned = [...ownedColumns(columns)];
  const quoted = (index: number) => pg.escapeIdentifier(names[index] ?? '');
  const idText = String.raw`btrim(coalesce(${quoted(columns.id)}::text, ''), E' \t\n\x0b\f\r')`;
  const instants = new Set(
    [...columns.fields.values()].map(({ index, type }) => (type === 'instant' ? index : -1)),
  );
  const isTyped = (index: number) => catalogued[index]?.[1] === 'timestamp with time zone';
  const isMoment = (index: number) => instants.has(index) && isTyped(index);
  const shown = owned.map((index) => {
    if (index === columns.id) return idText;
    return isMoment(index)
      ? `floor(extract(epoch from ${quoted(index)}) * 1000)::text`
      : `${quoted(index)}::text`;
  });
  const isReferred = catalogued[0]?.[7] === 'true';
  const own = catalogued.flatMap((column, index) => (owned.includes(index) ? [] : (column[5] ?? [])));
  const keys = catalogued.flatMap((column, index) => (column[3] === 'true' ? quoted(index) : []));
  const text = (index: number | null, texts: Texts): string =>
    (index === null ? null : texts[owned.indexOf(index) + 2]) ?? '';
  const cell = (index: number, texts: Texts): Cell => {
    const shownText = text(index, texts);
    if (shownText === '' || !instants.has(index)) return shownText === '' ? null : shownText;
    const date = new Date(isMoment(index) ? Number(shownText) : NaN);
    if (!Number.isNaN(date.getTime())) return date.toISOString();
    return readInstant(shownText, options.timeZone) ?? { unreadable: shownText };
  };
  return {
    columns,
    quoted,
    cell,
    idText,
    /** What is asked of a row: its place, whether deleting it would take what is a person's, then ours. */
    selection: ['ctid::text', `(${[String(isReferred), ...own].join(' or ')})::text`, ...shown].join(', '),
    order: [...(keys.length > 0 ? keys : [`${quoted(columns.id)} nulls last`]), 'ctid'].join(', '),
    closed: owned.flatMap((index) => (catalogued[index]?.[4] === 'true' ? (names[index] ?? []) : [])),
    /** Nothing, as the column takes it. */
    nothing: (index: number): Value => (catalogued[index]?.[2] === 'true' ? '' : null),
    row: (texts: Texts): PresentRow<Place> => ({
      leadId: text(columns.id, texts) || null,
      status: text(columns.status, texts) || null,
      cells: Object.fromEntries([...columns.fields].map(([field, { index }]) => [field, cell(index, texts)])),
      place: { ctid: texts[0] ?? '', hasOwn: texts[1] === 'true' },
    }),
  };
}

function definitions({ idColumn, fields, statusColumn }: ColumnMapping): string {
  const typed = (column: string, type: string) => `${pg.escapeIdentifier(column)} ${type}`;
  const mapped = fields.map(({ column, type }) => typed(column, type === 'instant' ? 'timestamptz' : 'text'));
  const status = statusColumn === undefined ? [] : [typed(statusColumn, 'text')];
  return [typed(idColumn, 'text unique'), ...mapped, ...status].join(', ');
}

async function* inBatches(rows: readonly TargetRow[]): AsyncGenerator<readonly TargetRow[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce);
}

function raiseMissing(name: string): never {
  throw new LeadsyncError('target.not-found', `There is no ${name} (any more). Nothing was written.`);
}
