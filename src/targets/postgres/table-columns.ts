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

/**
 * By column: name, type, NOT NULL, in the primary key, not writable, and an expression that detects own content (null:
 * none). Only constant defaults are considered: others may have side effects. For the table: whether it is an ordinary
 * one, with unique ctids, and whether deletes cascade to other tables.
 */
const catalogue = String.raw`
  select a.attname, a.atttypid::regtype::text, a.attnotnull::text, (a.attnum = any(i.indkey))::text,
    (a.attgenerated <> '' or a.attidentity = 'a' or not has_column_privilege(c.oid, a.attnum, 'update'))::text,
    case when a.attgenerated = '' and a.attidentity = '' and (a.attnum = any(i.indkey)) is not true
        and coalesce(e.preset, '') !~ '${automatic}'
      then format('coalesce(%I::text, '''') not in ('''', coalesce((%s)::text, ''''))', a.attname,
        case when e.preset ~ '\w\(' then 'null' else coalesce(e.preset, 'null') end) end,
    (c.relkind = 'r' and not exists (select from pg_inherits where inhparent = c.oid))::text,
    exists (select from pg_constraint where confrelid = c.oid and confdeltype in ('c', 'd', 'n'))::text,
    (select t.typtype from pg_type t where t.oid = a.atttypid)
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
  const catalogued = await ask(catalogue, [table]);
  if (catalogued.length === 0) return null;
  const names = catalogued.map(([column]) => column ?? '');
  const name = `table ${options.table}`;
  if (catalogued[0]?.[6] !== 'true') {
    const message = `${name} is not an ordinary table, but a view, a partitioned table, or one that others inherit from.`;
    throw new LeadsyncError('target.unreadable', message);
  }
  if (headingRank(names, options) === 0) {
    throw new LeadsyncError('target.header-missing', `${name} has none of the mapped columns.`, {
      help: `Add a column ${JSON.stringify(options.idColumn)} (text), or set idColumn to the column with the ids.`,
    });
  }
  const typeOf = (index: number): string => catalogued[index]?.[1] ?? '';
  const columns = withoutGuesses(locateColumns(names, options, name), typeOf, options);
  const owned = [...ownedColumns(columns)];
  const quoted = (index: number) => pg.escapeIdentifier(names[index] ?? '');
  const zone = pg.escapeLiteral(options.timeZone);
  const idText = String.raw`btrim(coalesce(${quoted(columns.id)}::text, ''), E' \t\n\x0b\f\r')`;
  const instants = new Set(
    [...columns.fields.values()].map(({ index, type }) => (type === 'instant' ? index : -1)),
  );
  const isMoment = (index: number) => instants.has(index) && [withZone, withoutZone].includes(typeOf(index));
  const shown = owned.map((index) => {
    if (index === columns.id) return idText;
    if (!isMoment(index)) return `${quoted(index)}::text`;
    const moment = typeOf(index) === withZone ? quoted(index) : `${quoted(index)} at time zone ${zone}`;
    return `floor(extract(epoch from ${moment}) * 1000)::text`;
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
    /** As `idKey`, for UUIDs; other ids may share a key. */
    idKeyText: String.raw`lower(btrim(regexp_replace(${idText}, '^urn:uuid:', '', 'i'), '{}()'))`,
    /** An expression that casts a text to the column's type. */
    taken: (index: number, expression: string): string => {
      // An explicit cast to a length would truncate silently.
      const type = typeOf(index) === 'character' ? 'bpchar' : typeOf(index);
      if (isMoment(index) && type === withoutZone) return `${expression}::timestamptz at time zone ${zone}`;
      return `${expression}::${type}`;
    },
    /** The selected expressions: place, own content, then our columns. */
    selection: ['ctid::text', `(${[String(isReferred), ...own].join(' or ')})::text`, ...shown].join(', '),
    order: [...(keys.length > 0 ? keys : [`${quoted(columns.id)} nulls last`]), 'ctid'].join(', '),
    isIdClosed: catalogued[columns.id]?.[4] === 'true',
    closed: owned.flatMap((index) => (catalogued[index]?.[4] === 'true' ? (names[index] ?? []) : [])),
    unsuited: unsuited(columns, names, catalogued),
    /** The column's empty value. */
    nothing: (index: number): Value => (catalogued[index]?.[2] === 'true' ? '' : null),
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
  typeOf: (index: number) => string,
  { timeZone, isZoneSet, fields }: TableMapping,
): Columns {
  const isGuess = ({ index, type }: { index: number; type: string }): boolean =>
    !isZoneSet && type === 'instant' && typeOf(index) === withoutZone;
  const guesses = [...columns.fields].filter(([, column]) => isGuess(column)).map(([field]) => field);
  if (guesses.length === 0) return columns;
  return {
    ...columns,
    fields: new Map([...columns.fields].filter(([field]) => !guesses.includes(field))),
    missing: [
      ...columns.missing,
      ...guesses.map((field) => {
        const column = fields.find((one) => one.field === field)?.column ?? field;
        const message = `The column ${JSON.stringify(column)} is a timestamp without time zone, and its zone is not configured; the field is left out until target.timeZone (or TARGET_TZ_NAME) is set: UTC for NocoDB and most grids, ${timeZone} when people type local times. Or make the column timestamptz.`;
        return { field, message };
      }),
    ],
  };
}

/** What columns cannot hold of their fields, a sentence each; for `check`. */
function unsuited(
  { id, fields }: Columns,
  names: readonly string[],
  catalogued: readonly Texts[],
): readonly string[] {
  const typed = (index: number) => `The column ${JSON.stringify(names[index])} is ${catalogued[index]?.[1]}`;
  const isText = (index: number) => textTypes.includes(catalogued[index]?.[1] ?? '');
  const found: string[] = [];
  if (!isText(id) && catalogued[id]?.[1] !== 'uuid')
    found.push(`${typed(id)}: lead ids are texts; ids of any other form cannot be stored.`);
  for (const { index, type } of fields.values()) {
    const kind = catalogued[index]?.[1] ?? '';
    if (isText(index)) continue;
    if (type === 'instant' && kind === 'date')
      found.push(`${typed(index)}: it has no time of day, so a follow-up with a time is held.`);
    else if (type === 'instant' && kind !== withZone && kind !== withoutZone)
      found.push(`${typed(index)}, which cannot hold moments: they are held.`);
    // An enum or a domain is a deliberate choice of values.
    else if (type === 'text' && !['e', 'd'].includes(catalogued[index]?.[8] ?? ''))
      found.push(`${typed(index)}: texts of any other form are held.`);
  }
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
