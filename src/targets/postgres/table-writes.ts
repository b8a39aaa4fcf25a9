import { idKey } from '../../core/lead/lead-id.ts';
import { sameCell, type Value } from '../../core/lead/value.ts';
import type { PresentRow, RowDecisions, RowWrite } from '../shared/row-changes.ts';
import { contentOf } from '../shared/row-content.ts';
import { refused, type Ask, type Texts } from './connection.ts';
import type { Place, Table } from './table-columns.ts';

type Cells = ReadonlyMap<number, Value>;

/** The written rows as they are now, null for deleted ones, and the new ones. */
export interface Stored {
  readonly written: ReadonlyMap<Place, PresentRow<Place> | null>;
  readonly added: readonly PresentRow<Place>[];
}

/** One statement per set of columns. Throws `target.refused` when any value cannot be stored: the caller must roll back. */
export async function store(
  ask: Ask,
  table: string,
  found: Table,
  { writes, appends }: RowDecisions<Place>,
): Promise<Stored> {
  const written = new Map<Place, PresentRow<Place> | null>();
  const removed = writes.filter(({ remove, place }) => remove && !place.hasOwn);
  if (removed.length > 0) {
    const places = removed.map(({ place }) => place.ctid);
    const gone = await ask(`delete from ${table} where ctid = any($1::tid[]) returning ctid::text`, [places]);
    if (gone.length < removed.length) throw refused('A rule of the table prevents the deletion.');
    for (const { place } of removed) written.set(place, null);
  }
  const changed = writes
    .filter(({ place }) => !written.has(place))
    .map((write) => ({ place: write.place, cells: cellsOf(write, found) }));
  for (const rows of groupByColumns(changed)) {
    const shown = await update(ask, table, found, rows);
    for (const { place, cells } of rows) written.set(place, compared(cells, shown.get(place.ctid), found));
  }
  const added: PresentRow<Place>[] = [];
  const fresh = appends.map((row) => ({ cells: cellsOf(row, found) }));
  for (const rows of groupByColumns(fresh)) {
    const shown = await insert(ask, table, found, rows);
    rows.forEach(({ cells }, nth) => added.push(compared(cells, shown[nth], found)));
  }
  return { written, added };
}

function cellsOf(row: Partial<RowWrite<Place>>, { columns }: Table): Cells {
  const content = [...contentOf(row, columns)];
  return new Map(content.map(([at, { value }]) => [at, at === columns.id ? (value?.trim() ?? null) : value]));
}

function groupByColumns<Row extends { readonly cells: Cells }>(rows: readonly Row[]): Iterable<Row[]> {
  return Map.groupBy(rows, ({ cells }) => [...cells.keys()].join()).values();
}

/** By their ctid before the update. */
async function update(
  ask: Ask,
  table: string,
  found: Table,
  rows: readonly { readonly place: Place; readonly cells: Cells }[],
): Promise<ReadonlyMap<string | null, Texts>> {
  const { names, taken, values } = parameters(found, rows);
  const shown = await ask(
    `update ${table} set (${names}) = row(${taken})
     from unnest(${['$1::text[]', ...values.map((_, nth) => `$${nth + 2}::text[]`)].join()})
       as leadsync_new (${['leadsync_place', ...aliases(values)].join()})
     where ctid = leadsync_place::tid returning leadsync_place, ${found.selection}`,
    [rows.map(({ place }) => place.ctid), ...values],
  );
  return new Map(shown.map(([place = null, ...texts]) => [place, texts]));
}

/** In row order, unless the table reorders: then they do not compare. */
function insert(
  ask: Ask,
  table: string,
  found: Table,
  rows: readonly { readonly cells: Cells }[],
): Promise<Texts[]> {
  const { names, taken, values } = parameters(found, rows);
  return ask(
    `insert into ${table} (${names}) select ${taken}
     from unnest(${values.map((_, nth) => `$${nth + 1}::text[]`).join()}) with ordinality
       as leadsync_new (${[...aliases(values), 'leadsync_nth'].join()})
     order by leadsync_nth returning ${found.selection}`,
    values,
  );
}

const aliases = (values: readonly unknown[]): readonly string[] => values.map((_, nth) => `leadsync_${nth}`);

function parameters(found: Table, rows: readonly { readonly cells: Cells }[]) {
  const indexes = [...(rows[0]?.cells.keys() ?? [])];
  return {
    names: indexes.map(found.quoted).join(),
    taken: indexes.map((index, nth) => found.taken(index, `leadsync_${nth}`)).join(),
    values: indexes.map((index) => rows.map(({ cells }) => found.given(index, cells.get(index)))),
  };
}

/** The row as read back. Throws `target.refused` when it does not show what was written. */
function compared(cells: Cells, texts: Texts | undefined, found: Table): PresentRow<Place> {
  if (texts === undefined) throw refused('A rule of the table prevents the write.');
  const other = [...cells].find(([index, value]) => {
    const shown = found.cell(index, texts);
    if (index === found.columns.id && typeof shown === 'string' && value !== null)
      return idKey(shown) !== idKey(value);
    return !sameCell(shown, value);
  });
  if (other !== undefined)
    throw refused(`The column ${found.quoted(other[0])} stored something other than what was written.`);
  return found.row(texts);
}
