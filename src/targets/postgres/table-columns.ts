import pg from 'pg';
import { LeadsyncError } from '../../errors.ts';
import { readInstant } from '../../core/lead/instant.ts';
import type { Cell, Value } from '../../core/lead/value.ts';
import {
  type ColumnMapping,
  type Columns,
  headingRank,
  locateColumns,
  ownedColumns,
} from '../shared/columns.ts';
import type { PresentRow } from '../shared/row-changes.ts';
import type { Ask, Texts } from './attempt.ts';

export interface TableMapping extends ColumnMapping {
  /** `table` or `schema.table`, spelled as in the database. */
  readonly table: string;
  /** IANA zone of dates without offset. */
  readonly timeZone: string;
  /** Whether the user configured the zone for this table: the meaning of a `timestamp` is not guessed. */
  readonly isZoneSet: boolean;
}

/** The row's ctid, and whether it has own content. */
export type Place = { readonly ctid: string; readonly hasOwn: boolean };
export type Table = NonNullable<Awaited<ReturnType<typeof describe>>>;

/** Defaults that the database fills in: nobody wrote them. */
const automatic = String.raw`^(nextval|now|timezone|gen_random_uuid|uuidv?\w*|\w+_timestamp)\(|^CURRENT_|^LOCAL`;

/** One column in the catalogue. */
interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
  /** As in `pg_type.typtype`: `e` an enum, `d` a domain. */
  readonly kind: string;
  /** NOT NULL. */
  readonly isRequired: boolean;
  /** In the primary key. */
  readonly isKey: boolean;
  readonly isClosed: boolean;
  /** An expression that detects own content; null: none. */
  readonly own: string | null;
  /** Whether the table is an ordinary one, with unique ctids, and whether deletes cascade to other tables. */
  readonly isOrdinary: boolean;
  readonly isReferred: boolean;
}

/** For own content only constant defaults are considered: others may have side effects. */
const catalogue = String.raw`
  select json_build_object('name', a.attname, 'type', a.atttypid::regtype::text, 'isRequired', a.attnotnull,
    'kind', (select t.typtype from pg_type t where t.oid = a.atttypid),
    'isKey', coalesce(a.attnum = any(i.indkey), false),
    'isClosed', a.attgenerated <> '' or a.attidentity = 'a' or not has_column_privilege(c.oid, a.attnum, 'update'),
    'own', case when a.attgenerated = '' and a.attidentity = '' and (a.attnum = any(i.indkey)) is not true
        and coalesce(e.preset, '') !~ '${automatic}'
      then format('coalesce(%I::text, '''') not in ('''', coalesce((%s)::text, ''''))', a.attname,
        case when e.preset ~ '\w\(' then 'null' else coalesce(e.preset, 'null') end) end,
    'isOrdinary', c.relkind = 'r' and not exists (select from pg_inherits where inhparent = c.oid),
    'isReferred', exists (select from pg_constraint where confrelid = c.oid and confdeltype in ('c', 'd', 'n')))::text
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
    cross join lateral (select pg_get_expr(d.adbin, d.adrelid) as preset) e
  where c.oid = to_regclass($1) order by a.attnum`;

const withZone = 'timestamp with time zone';
const withoutZone = 'timestamp without time zone';

/** Types that hold any text, up to a length. */
const textTypes: readonly string[] = ['text', 'character varying', 'character', 'citext'];

/** Describes the table (quoted) from the catalogue; null: missing. Throws as `locateColumns` does. */
export async function describe(ask: Ask, table: string, options: TableMapping) {
  const found = await ask(catalogue, [table]);
  const all = found.map(([json]) => JSON.parse(json ?? '') as CatalogueColumn);
  const [first] = all;
  if (first === undefined) return null;
  const names = all.map((column) => column.name);
  const name = `table ${options.table}`;
  if (!first.isOrdinary) {
    const message = `${name} is not an ordinary table, but a view, a partitioned table, or one that others inherit from.`;
    throw new LeadsyncError('target.unreadable', message);
  }
  if (headingRank(names, options) === 0) {
    throw new LeadsyncError('target.header-missing', `${name} has none of the mapped columns.`, {
      help: `Add a column ${JSON.stringify(options.idColumn)} (text), or set idColumn to the column with the ids.`,
    });
  }
  const columns = withoutGuesses(locateColumns(names, options, name), all, options);
  const owned = [...ownedColumns(columns)];
  const typeOf = (index: number): string => all[index]?.type ?? '';
  const quoted = (index: number) => pg.escapeIdentifier(names[index] ?? '');
  const zone = pg.escapeLiteral(options.timeZone);
  const idText = String.raw`btrim(coalesce(${quoted(columns.id)}::text, ''), E' \t\n\x0b\f\r')`;
  const instants = new Set(
    [...columns.fields.values()].flatMap(({ index, type }) => (type === 'instant' ? index : [])),
  );
  const isMoment = (index: number) => instants.has(index) && [withZone, withoutZone].includes(typeOf(index));
  const shown = owned.map((index) => {
    if (index === columns.id) return idText;
    if (!isMoment(index)) return `${quoted(index)}::text`;
    const moment = typeOf(index) === withZone ? quoted(index) : `${quoted(index)} at time zone ${zone}`;
    return `floor(extract(epoch from ${moment}) * 1000)::text`;
  });
  const own = all.flatMap((column, index) => (owned.includes(index) ? [] : (column.own ?? [])));
  const keys = all.flatMap(({ isKey }, index) => (isKey ? quoted(index) : []));
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
    /** As `idKey`, for UUIDs; other ids may share a key. */
    idKeyText: String.raw`lower(btrim(regexp_replace(${idText}, '^urn:uuid:', '', 'i'), '{}()'))`,
    /** An expression that casts a text to the column's type. */
    taken: (index: number, expression: string): string => {
      // An explicit cast to a length would truncate silently.
      const type = typeOf(index) === 'character' ? 'bpchar' : typeOf(index);
      const isLocal = instants.has(index) && [withoutZone, 'date'].includes(type);
      if (isLocal) return `(${expression}::timestamptz at time zone ${zone})::${type}`;
      return `${expression}::${type}`;
    },
    /** The selected expressions: place, own content, then our columns. */
    selection: ['ctid::text', `(${[first.isReferred, ...own].join(' or ')})::text`, ...shown].join(', '),
    order: [...(keys.length > 0 ? keys : [`${quoted(columns.id)} nulls last`]), 'ctid'].join(', '),
    isIdClosed: all[columns.id]?.isClosed === true,
    closed: owned.flatMap((index) => (all[index]?.isClosed === true ? all[index].name : [])),
    unsuited: unsuited(columns, all),
    /** The column's empty value. */
    nothing: (index: number): Value => (all[index]?.isRequired === true ? '' : null),
    row: (texts: Texts): PresentRow<Place> => ({
      leadId: text(columns.id, texts) || null,
      status: text(columns.status, texts) || null,
      cells: Object.fromEntries([...columns.fields].map(([field, { index }]) => [field, cell(index, texts)])),
      place: { ctid: texts[0] ?? '', hasOwn: texts[1] === 'true' },
    }),
  };
}

/** The columns without those of type `timestamp` whose zone is not configured. */
function withoutGuesses(
  columns: Columns,
  all: readonly CatalogueColumn[],
  { timeZone, isZoneSet }: TableMapping,
): Columns {
  const fields = new Map(columns.fields);
  const missing = [...columns.missing];
  for (const [field, { index, type }] of columns.fields) {
    if (isZoneSet || type !== 'instant' || all[index]?.type !== withoutZone) continue;
    fields.delete(field);
    const message = `The column ${JSON.stringify(all[index].name)} is a timestamp without time zone, and its zone is not configured; the field is left out until target.timeZone (or TARGET_TZ_NAME) is set: UTC for NocoDB and most grids, ${timeZone} when people type local times. Or make the column timestamptz.`;
    missing.push({ field, message });
  }
  return { ...columns, fields, missing };
}

/** What columns cannot hold of their fields, a sentence each; for `check`. */
function unsuited({ id, fields }: Columns, all: readonly CatalogueColumn[]): readonly string[] {
  const found: string[] = [];
  const see = (index: number, whatOf: (column: CatalogueColumn) => string | null): void => {
    const column = all[index];
    const what = column === undefined || textTypes.includes(column.type) ? null : whatOf(column);
    if (what !== null) found.push(`The column ${JSON.stringify(column?.name)} is ${column?.type}${what}`);
  };
  see(id, ({ type }) => (type === 'uuid' ? null : ': it cannot hold every lead id, since ids are texts.'));
  for (const { index, type: wanted } of fields.values())
    see(index, ({ type, kind }) => {
      // An enum or a domain is a deliberate choice of values.
      if (wanted === 'text') return ['e', 'd'].includes(kind) ? null : ': it cannot hold other texts.';
      if (type === 'date') return ': it cannot hold a follow-up with a time of day.';
      if (type === withZone || type === withoutZone) return null;
      return ': it cannot hold moments.';
    });
  return found;
}

/** Column definitions of a new table: a primary key, by which other programs edit rows, then the mapped columns. */
export function definitions({ idColumn, fields, statusColumn }: ColumnMapping): string {
  const mapped = [
    typed(idColumn, 'text unique'),
    ...fields.map(({ column, type }) => typed(column, columnType(type))),
    ...(statusColumn === undefined ? [] : [typed(statusColumn, 'text')]),
  ];
  const taken = new Set([idColumn, statusColumn, ...fields.map(({ column }) => column)]);
  const key = ['id', 'row_id', 'leadsync_row_id'].find((name) => !taken.has(name)) ?? 'leadsync_key';
  return [typed(key, 'bigint generated by default as identity primary key'), ...mapped].join(', ');
}

export const columnType = (type: 'text' | 'instant'): string => (type === 'instant' ? 'timestamptz' : 'text');

const typed = (column: string, type: string): string => `${pg.escapeIdentifier(column)} ${type}`;
