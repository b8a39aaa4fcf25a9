import { tagUnlessFailed } from '../shared/content-tag.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import pg from 'pg';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { mostWhole } from '../../lib/memory.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { isBlank, isForLoose, type PresentRow, RowChanges, rulesOf } from '../shared/row-changes.ts';
import { rowBatches, targetRow } from '../shared/row-content.ts';
import type { ContentTag, RowChange, RowOutcome, Target } from '../../ports/target.ts';
import { goneFault } from '../shared/gone-fault.ts';
import { type Ask, attempt, openClient, raise, type Texts } from './connection.ts';
import { isTableLeft, readTableMark, tablePlace, writeTableMark } from './table-place.ts';
import { definitions, describe, type Place, type Table, type TableMapping } from './table-columns.ts';
import { store } from './table-writes.ts';

export interface PostgresTableOptions extends TableMapping {
  readonly url: Secret;
  readonly mostBytes?: number;
}

/** Memory of a row besides its texts. */
const bytesBeside = 200;

/** Limits how long rows stay locked when we vanish, and fixes the format of moments. */
const settings = `select set_config('lock_timeout', '10s', true), set_config('timezone', 'UTC', true),
  set_config('datestyle', 'ISO', true), set_config('idle_in_transaction_session_timeout', '5min', true)`;

/**
 * Rows are numbered from 1 in the order of the primary key, else of the id column. A write is one transaction that locks the rows before
 * it reads them. What a column refuses or alters is held. The table is read as a whole.
 */
export function createPostgresTableTarget(options: PostgresTableOptions): Target {
  const table = options.table.split('.').map(pg.escapeIdentifier).join('.');
  const name = `table ${options.table}`;
  let requests = 0;
  let marked: string | undefined;

  /** One connection, one transaction: any failure rolls everything back. */
  async function transaction<T>(signal: AbortSignal, work: (ask: Ask) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const client = openClient(options.url, name);
    // A broken connection rejects its query; without a listener it would also end the process.
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
      // Refusals must come while it is known which change caused them.
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

  /** A refused batch is rolled back and retried in halves until the refused change stands alone. `rows` becomes the new state. */
  async function carryOut(
    changes: readonly RowChange[],
    rows: { all: readonly PresentRow<Place>[]; changed: boolean },
    found: Table,
    ask: Ask,
    signal: AbortSignal,
  ): Promise<readonly RowOutcome[]> {
    signal.throwIfAborted();
    const inHalves = async (): Promise<readonly RowOutcome[]> => {
      const half = Math.ceil(changes.length / 2);
      const first = await carryOut(changes.slice(0, half), rows, found, ask, signal);
      return [...first, ...(await carryOut(changes.slice(half), rows, found, ask, signal))];
    };
    if (!areApart(changes)) return inHalves();
    const changing = new RowChanges<Place>(changes, {
      ...rulesOf(found.columns),
      hasOwnCells: (place) => place.hasOwn,
      notStorable: (text) => (text.includes('\0') ? 'PostgreSQL cannot store NUL characters.' : null),
    });
    for (const row of rows.all) changing.see(row);
    const decided = changing.decide();
    if (decided.writes.length + decided.appends.length === 0) return decided.outcomes;
    const stored = await attempt(
      ask,
      (code) => code === 'target.refused',
      () => store(ask, table, found, decided),
    );
    if (!(stored instanceof LeadsyncError)) {
      const kept = rows.all.flatMap((row) => {
        const now = stored.written.get(row.place);
        return now === undefined ? row : (now ?? []);
      });
      rows.all = [...kept, ...stored.added];
      rows.changed = true;
      return decided.outcomes;
    }
    const [change] = changes;
    if (change === undefined || changes.length > 1) return inHalves();
    const message = `${stored.message} The row was not changed.`;
    return [{ key: change.key, status: 'held', code: 'target.value-not-storable', message }];
  }

  /** Adds columns for new fields. Without permission they stay missing, which is reported. */
  async function addColumns(present: Table, newFields: readonly string[], ask: Ask): Promise<Table> {
    const missing = present.columns.missing.map(({ field }) => field);
    const added = options.fields.filter(({ field }) => newFields.includes(field) && missing.includes(field));
    if (added.length === 0) return present;
    const columns = added.map(
      ({ column, type }) =>
        `add column if not exists ${pg.escapeIdentifier(column)} ${fieldKinds[type].postgres}`,
    );
    await attempt(
      ask,
      (code) => code === 'target.forbidden',
      () => ask(`alter table ${table} ${columns.join()}`),
    );
    return (await describe(ask, table, options)) ?? raiseMissing(name);
  }

  const idClosed = `The column ${JSON.stringify(options.idColumn)} of ${name} is not writable; grant UPDATE on it.`;

  return {
    name,
    batchSize: 500,
    get requests() {
      return requests;
    },

    place: (signal) => transaction(signal, (ask) => tablePlace(ask, options.table)),

    isLeft: ({ id }, signal) => transaction(signal, (ask) => isTableLeft(ask, id)),

    contentTag(signal) {
      const tagOf = async (ask: Ask): Promise<ContentTag | null> => {
        const found = await describe(ask, table, options);
        if (found === null) return null;
        // The number of the transaction that wrote a row: no change that is taken back looks like none.
        const rows = `select xmin::text, ${found.selection} from ${table} order by ${found.order}`;
        const hashes = `select sha256(convert_to(q::text, 'UTF8')) as hash from (${rows}) q`;
        const [content] = await ask(`select encode(sha256(string_agg(hash, '')), 'hex') from (${hashes}) h`);
        const { selection, columns, closed, unsuited, isIdClosed, order } = found;
        const read = [selection, columns.missing, closed, unsuited, isIdClosed, order];
        const contentTag = JSON.stringify([content, read, await readTableMark(ask, table)]);
        return { contentTag, from: 'content' };
      };
      return tagUnlessFailed(() => transaction(signal, tagOf), signal);
    },

    open: ({ create, newFields = [], wasFilled = false }, signal) =>
      transaction(signal, async (ask) => {
        const present = await describe(ask, table, options);
        if (present === null && wasFilled) throw goneFault(name);
        if (present === null && !create) return { missing: [], created: false, rows: rowBatches([]) };
        if (present === null) await ask(`create table ${table} (${definitions(options)})`);
        const described = present ?? (await describe(ask, table, options)) ?? raiseMissing(name);
        const found = create ? await addColumns(described, newFields, ask) : described;
        const query = `select ${found.selection} from ${table}`;
        await refuseTooMuch(ask, query, name, options.mostBytes ?? mostWhole);
        const all = await ask(`${query} order by ${found.order}`);
        const rows = all.flatMap((texts, index) => {
          const row = targetRow(found.row(texts), index + 1, found.columns);
          if (row.leadId === null && isBlank(row.cells)) return [];
          return row.leadId === null && found.isIdClosed ? { ...row, idClosed } : row;
        });
        const { closed, unsuited, columns, hint } = found;
        const mark = await readTableMark(ask, table);
        return {
          missing: columns.missing,
          created: present === null,
          timeZone: options.timeZone,
          closed,
          unsuited,
          ...(hint !== null && { hint }),
          rows: rowBatches(rows),
          ...(mark !== undefined && { mark }),
        };
      }),

    async write(changes, signal, mark) {
      const { outcomes, isMarked } = await transaction(signal, async (ask) => {
        const found = (await describe(ask, table, options)) ?? raiseMissing(name);
        // Our writers take turns, so that no two add the same row.
        await ask('select pg_advisory_xact_lock(to_regclass($1)::oid::bigint)', [table]);
        const ids = changes.flatMap((change) => [
          change.leadId?.trim() ?? '',
          isForLoose(change) ? '' : null,
        ]);
        const keys = ids.map((id) => id && idKey(id));
        const wanted = `where (${found.idText} = any($1) or ${found.idKeyText} = any($2)) order by ${found.order} for update`;
        const texts = await ask(`select ${found.selection} from ${table} ${wanted}`, [ids, keys]);
        const rows = { all: texts.map(found.row), changed: false };
        const carriedOut = await carryOut(changes, rows, found, ask, signal);
        const isWanted = rows.changed && mark !== undefined && mark.text !== marked;
        const isWritten = isWanted && (await writeTableMark(ask, table, mark.text));
        return { outcomes: carriedOut, isMarked: isWritten };
      });
      if (isMarked) {
        marked = mark?.text;
        mark?.arrived();
      }
      return outcomes;
    },
  };
}

/** Throws `target.too-large`: nobody with write access to the table may exhaust the memory. */
async function refuseTooMuch(ask: Ask, query: string, name: string, mostBytes: number): Promise<void> {
  const size = `select (sum(octet_length(q::text) + $1) > $2)::text from (${query}) q`;
  const [answer] = await ask(size, [bytesBeside, mostBytes]);
  if (answer?.[0] !== 'true') return;
  throw new LeadsyncError(
    'target.too-large',
    `${name} has more content than the ${Math.round(mostBytes / 1024 ** 2)} MiB of memory that leadsync has for it. Nothing was written.`,
    {
      help: 'Move unneeded rows out of the table, shorten its texts, or give leadsync more memory (docs/containers.md).',
    },
  );
}

function areApart(changes: readonly RowChange[]): boolean {
  const ids = changes.flatMap(({ leadId }) => (leadId === null ? [] : [idKey(leadId)]));
  return new Set(ids).size === ids.length;
}

function raiseMissing(name: string): never {
  throw new LeadsyncError('target.not-found', `${name} does not exist (any more). Nothing was written.`);
}
