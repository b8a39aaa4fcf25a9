import type pg from 'pg';
import { history } from '../../src/store/history.ts';
import type { People } from './people.ts';
import { columns, entityOf, type Field, fieldNames, isOfBranch, plainId, shown, tokensOf } from './tokens.ts';
import { isTicked, pauseHeading } from './paused-rows.ts';
import type { Table } from './table.ts';
import type { Side } from './words.ts';
import type { World } from './world.ts';

interface HeldRow {
  readonly leadId: string;
  readonly contentHash: string;
  readonly field: string;
  readonly row: number | null;
  readonly code: string;
  readonly message: string;
}

/** To whom a row belongs that shows no company, such as what is left of one that people took apart. */
const nobody = '?';

/** What is judged: the two sides of one connection. */
export interface TwoSides {
  readonly sandbox: { readonly leads: Pick<World['sandbox']['leads'], 'list'> };
  readonly table: Pick<Table, 'grid' | 'numberOf'>;
  readonly connection: World['connection'];
  /** Whether the list shows a lead. */
  readonly lists?: World['lists'];
  /** What was typed in a moment in which it may be written over (docs/guarantees.md). */
  readonly online: { readonly typed: Iterable<string> } | null;
}

/** What is wrong after a night that has come to rest; empty when nothing is. */
export async function judge(world: World, people: People, pool: pg.Pool): Promise<string[]> {
  const { early } = world.sandbox.stats;
  return [
    ...(early > 0 ? [`${early} requests came too early`] : []),
    ...(await judgeSides(world, people, pool)),
    ...world.witness.faults,
    ...(await judgeReminders(world, pool)),
  ];
}

/** Where the two sides differ and nothing is held, what is there twice, and which edits are nowhere. */
export async function judgeSides(world: TwoSides, people: People, pool: pg.Pool): Promise<string[]> {
  const faults: string[] = [];
  const leads = world.sandbox.leads.list().filter(({ companyName }) => !isOfBranch(companyName));
  const rows = rowsOfGrid((await world.table.grid()) ?? [], world.table);
  const { rows: held } = await pool.query<HeldRow>(
    `select lead_id as "leadId", content_hash as "contentHash", field, row_number as row, code, message from held
     where kind = 'conflict' and connection = $1`,
    [world.connection.name],
  );
  const { direction } = world.connection.sync;
  const sendsNames = directionOf(world, 'companyName') !== 'to-target';
  const doubted = await inDoubt(world, pool);
  const carried = await carriedToLeads(world, pool);

  const leadsOf = Map.groupBy(leads, (lead) => entityOf(lead.companyName) ?? nobody);
  const rowsOf = Map.groupBy(rows, ({ row }) => entityOf(row['Company'] ?? '') ?? nobody);
  const entities = new Set([
    ...leadsOf.keys(),
    ...rowsOf.keys(),
    ...people.edits.map(({ entity }) => entity),
  ]);
  // Typed into a row that was being added when its columns were moved: it stays in a row of its own (docs/google-sheets.md).
  const nameless = held.filter(({ code }) => code === 'row.company-name-empty');
  const apart = new Set(
    (rowsOf.get(nobody) ?? []).flatMap((own) =>
      isHeldRow(own, nameless) ? Object.values(own.row).flatMap(tokensOf) : [],
    ),
  );
  const notes = leads.filter(({ companyName }) => companyName.startsWith('note: '));
  if (notes.length > 0) faults.push('a note below the table became a lead');
  for (const entity of entities) {
    const [own, ownRows] = [leadsOf.get(entity) ?? [], rowsOf.get(entity) ?? []];
    if (own.length > 1)
      faults.push(`${entity} is ${own.length} leads: ${own.map(({ id }) => id).join(', ')}`);
    if (ownRows.length > 1 && entity !== nobody && !people.remade.has(entity))
      faults.push(`${entity} is ${ownRows.length} rows`);
    if (people.deletedLeads.has(entity) || people.deletedRows.has(entity)) {
      if (
        own.length === 0 &&
        !people.deletedLeads.has(entity) &&
        world.connection.sync.onRowDeleted !== 'delete-lead'
      )
        faults.push(`the lead of ${entity} is gone, though only its row was deleted`);
      if (
        ownRows.length === 0 &&
        !people.deletedRows.has(entity) &&
        !people.joined.has(entity) &&
        world.connection.sync.onLeadDeleted !== 'remove'
      )
        faults.push(`the row of ${entity} is gone, though only its lead was deleted`);
      continue;
    }
    const [lead] = own;
    const [found] = ownRows;
    if (people.joined.has(entity)) {
      if (found !== undefined) faults.push(`${entity} was made one with another, and is a row again`);
      if (lead === undefined) faults.push(`the lead of ${entity} is gone, though only its row was merged`);
      continue;
    }
    // What the list does not show is nobody's concern here but for edits of its row.
    const isOutside = lead !== undefined && world.lists?.(lead) === false;
    if (found === undefined) {
      if (isOutside) continue;
      if (direction === 'to-leads') continue;
      // It may be the lead of a create that is in doubt, or of a row without an id: a person is asked.
      const asking = ['create.in-doubt', 'row.id-lost'];
      const names = (said: string) => said.includes(lead?.id ?? '?') || said.includes('more new leads');
      if (held.some(({ code, message }) => asking.includes(code) && names(message))) continue;
      faults.push(`${entity} has no row (lead ${lead?.id})`);
      continue;
    }
    if (isTicked(found.row[pauseHeading])) {
      const wrong = held.filter(({ leadId, contentHash }) => leadId === lead?.id && contentHash === '');
      faults.push(...wrong.map(({ code }) => `the row of ${entity} is paused, and held: ${code}`));
      // When the pause is over either side's older word may stand.
      for (const field of fieldNames) people.heldFields.add(`${entity}.${field}`);
      for (const field of fieldNames) people.settled.delete(`${entity}.${field}`);
      continue;
    }
    if (ownRows.every((own) => isHeldRow(own, held))) {
      people.heldRows++;
      continue;
    }
    const { row, number } = found;
    if (lead === undefined && (doubted.has(entity) || !sendsNames)) continue;
    if (lead === undefined) {
      faults.push(`${entity} has no lead (row ${number} ${JSON.stringify(row)})`);
      continue;
    }
    if (isOutside && (row['Lead ID'] ?? '') === '' && doubted.has(entity)) continue;
    if (plainId(row['Lead ID'] ?? '') !== plainId(lead.id)) {
      faults.push(
        `row ${number} of ${entity} has the id ${JSON.stringify(row['Lead ID'])}, the lead is ${lead.id}`,
      );
      continue;
    }
    for (const field of fieldNames) {
      const isHeld = held.some(
        (item) => item.leadId === lead.id && (item.field === field || item.field === ''),
      );
      const left = shown(field, lead[field]);
      const right = shown(field, row[columns[field]]);
      const key = `${entity}.${field}`;
      // A row shows what its lead had when the list showed it last, also when that came from the row.
      const isOwn = isTyped(people, key, right) && !carried.has(`${lead.id} ${field} ${right}`);
      if (isOutside && !isHeld && left !== right && !isOwn) {
        people.heldFields.add(key);
        continue;
      }
      if (!isHeld && left !== right) {
        const [sees, other] = [JSON.stringify(left), JSON.stringify(right)];
        faults.push(`${key}: lead ${lead.id} has ${sees}, row ${number} ${other}`);
        continue;
      }
      if (!people.doubled.has(entity)) faults.push(...judgeWords(world, people, key, isHeld, left, apart));
      if (isHeld) people.settled.delete(key);
      else people.settled.set(key, left);
    }
  }
  for (const item of held) {
    const lead = leads.find(({ id }) => id === item.leadId);
    const entity = lead && entityOf(lead.companyName);
    if (entity !== null && entity !== undefined) people.heldFields.add(`${entity}.${item.field}`);
  }
  if (world.connection.target.statusColumn !== undefined && !isStopped(world)) {
    const ids = new Map(leads.map((lead) => [plainId(lead.id), world.lists?.(lead) !== false]));
    faults.push(
      ...rows.flatMap(({ row }) => (isTicked(row[pauseHeading]) ? [] : judgeStatus(row, ids, held))),
    );
  }
  faults.push(...(await lostEdits(world, people, pool)));
  return faults;
}

/** A list that shows none of the leads stops each run before it says anything of them. */
function isStopped(world: TwoSides): boolean {
  return world.sandbox.leads.list().every((lead) => world.lists?.(lead) === false);
}

/** Whether somebody typed the value into the row since it was last in step. */
/** What was written into leads: id, field and value. */
async function carriedToLeads(world: TwoSides, pool: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string; field: Field; after: string }>(
    `select lead_id as id, field, coalesce(after #>> '{}', '') as after from ${history} h where connection = $1 and side = 'lead'`,
    [world.connection.name],
  );
  return new Set(rows.map(({ id, field, after }) => `${id} ${field} ${shown(field, after)}`));
}

function isTyped(people: People, key: string, value: string): boolean {
  if (value === (people.settled.get(key) ?? value)) return false;
  return people.edits.some(
    ({ side, night, entity, field, value: typed }) =>
      side === 'sheet' &&
      night === people.night &&
      `${entity}.${field}` === key &&
      shown(field, typed) === value,
  );
}

/** A row without id that is held, or may be the row of a create that is. */
function isHeldRow(
  { row, number }: { row: Readonly<Record<string, string>>; number: number },
  held: readonly HeldRow[],
) {
  const isOrphan = held.some((item) => item.row === number && item.code === 'row.orphan');
  const isHeld = held.some((item) => item.row === number || item.code.startsWith('create.'));
  return isOrphan || ((row['Lead ID'] ?? '') === '' && isHeld);
}

/** Companies whose create is in doubt and stays so: a scan with a filter does not tell that a lead was not made. */
async function inDoubt({ connection }: TwoSides, pool: pg.Pool): Promise<ReadonlySet<string | null>> {
  if (Object.keys(connection.leads.query).length === 0) return new Set();
  const { rows } = await pool.query<{ name: string | null }>(
    `select expect->>'companyName' as name from actions where intent = 'in-doubt' and connection = $1`,
    [connection.name],
  );
  return new Set(rows.map(({ name }) => entityOf(name ?? '')));
}

/** Whether the status column says how the row stands; `leads`: whether the list shows those that are there, by id. */
function judgeStatus(
  row: Readonly<Record<string, string>>,
  leads: ReadonlyMap<string, boolean>,
  held: readonly HeldRow[],
): string[] {
  const { Status: status = '' } = row;
  const id = plainId(row['Lead ID'] ?? '');
  const isHeld = held.some(({ leadId, contentHash }) => plainId(leadId ?? '') === id && contentHash === '');
  const right =
    id === ''
      ? /^(held|waiting): \w/
      : isHeld
        ? /^held: \w/
        : leads.has(id)
          ? leads.get(id) === true
            ? /^in step$/
            : /^outside: \w/
          : /^(deleted 20\d\d-\d\d-\d\d|waiting: the service does not list this lead|outside: .*)$/;
  return right.test(status)
    ? []
    : [`the status of ${JSON.stringify(row)} is not ${right.source}${isHeld ? ', it is held' : ''}`];
}

/** No reminder is scheduled but for what both sides agree on, and none of that is without one. */
async function judgeReminders(world: World, pool: pg.Pool): Promise<string[]> {
  if (isStopped(world)) return [];
  const listed = world.sandbox.leads.list().flatMap((lead) => (world.lists(lead) ? [lead.id] : []));
  const { isFiltered } = world.witness;
  const { rows } = await pool.query<{ lead: string; due: string; wanted: boolean }>(
    `select coalesce(r.lead_id, p.lead_id) as lead, coalesce(r.due_at, p.due) as due, p.lead_id is not null as wanted
     from (select lead_id, due_at from mails where kind <> 'digest' and state = 'scheduled') r
     full join (select lead_id, (base->>'nextFollowUpAt')::timestamptz as due from pairs
       where connection = 'main' and lead_deleted_at is null and (lead_id = any($1) or not $2) and base->>'nextFollowUpAt' ~ '^\\d{4}-') p
       on p.lead_id = r.lead_id and p.due = r.due_at
     where r.lead_id is null or p.lead_id is null order by 1`,
    [listed, isFiltered],
  );
  return rows.map(({ lead, due, wanted }) =>
    wanted
      ? `no reminder of ${lead} for ${due}`
      : `a reminder of ${lead} for ${due} stands for a value that is gone`,
  );
}

function rowsOfGrid([headings = [], ...records]: readonly (readonly string[])[], table: TwoSides['table']) {
  const rows = records.map((record, index) => ({
    number: table.numberOf?.(index) ?? index + 2,
    row: Object.fromEntries(headings.map((heading, column) => [heading, record[column] ?? ''])),
  }));
  // Where a row of a workbook was removed its place is empty.
  return rows.filter(
    ({ row }) =>
      Object.values(row).some((text) => text !== '') && !(row['Company'] ?? '').startsWith('note: '),
  );
}

function directionOf({ connection }: TwoSides, field: Field): string {
  return connection.fields.find((mapping) => mapping.field === field)?.direction ?? 'two-way';
}

/**
 * Whether what was typed tonight into one field came to what it had to: `left` is what is shown now; `apart`: what stands in
 * a held row of its own.
 */
function judgeWords(
  world: TwoSides,
  people: People,
  key: string,
  isHeld: boolean,
  left: string,
  apart: ReadonlySet<string>,
): string[] {
  const [entity = '', name] = key.split('.');
  const field = fieldNames.find((one) => one === name) ?? 'companyName';
  if (directionOf(world, field) !== 'two-way') return [];
  const tonight = people.edits.filter(
    (edit) => edit.entity === entity && edit.field === field && edit.night === people.night,
  );
  if (tonight.length === 0 || tonight.findLast(({ side }) => side === 'sheet')?.inGap === true) return [];
  const last = (side: Side): string | null => {
    const value = tonight.findLast((edit) => edit.side === side)?.value;
    return value === undefined ? null : shown(field, value);
  };
  const [web, sheet, base] = [last('web'), last('sheet'), people.settled.get(key)];
  const wasConflict =
    base !== undefined && web !== null && sheet !== null && web !== sheet && web !== base && sheet !== base;
  if (wasConflict && tonight.every(({ byDay }) => byDay) && !sheet.startsWith('soon')) {
    const { onConflict } = world.connection.sync;
    const told = `${key} was edited on both sides (${JSON.stringify([web, sheet])}), and by ${onConflict}`;
    if (onConflict === 'hold') return isHeld ? [] : [`${told} it is not held, but ${JSON.stringify(left)}`];
    const winner = onConflict === 'leads-win' ? web : sheet;
    if (!isHeld && left !== winner) return [`${told} it is ${JSON.stringify(left)}`];
    if (isHeld && onConflict === 'leads-win') return [`${told} it is held`];
  }
  // A service with stages gives a new lead the first one.
  if (isHeld || (field === 'stage' && left === 'new' && (web === '' || sheet === ''))) return [];
  if (left === web || left === sheet || people.heldFields.has(key)) return [];
  if (sheet !== null && tokensOf(sheet).some((token) => apart.has(token))) return [];
  return [`${key} shows ${JSON.stringify(left)}, but the last word was ${JSON.stringify([web, sheet])}`];
}

async function lostEdits(world: TwoSides, people: People, pool: pg.Pool): Promise<string[]> {
  const kept = new Set([...people.replaced, ...(await tokensOfState(pool, world.connection.name))]);
  // Into the very cell, between the look and the write: a limit (sheets-gaps.ts).
  for (const token of world.online?.typed ?? []) kept.add(token);
  for (const side of [world.sandbox.leads.list(), (await world.table.grid()) ?? []])
    for (const token of tokensIn(side)) kept.add(token);
  const lost = [...people.all].filter(([token]) => !kept.has(token));
  return lost.map(([token, side]) => `the edit ${token} (${side}) is nowhere`);
}

/** What was typed and stands in the history, or is held. */
export async function tokensOfState(pool: pg.Pool, connection: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select concat_ws(' ', lead_value, row_value, base) as text from held where kind = 'conflict' and connection = $1
     union all select concat_ws(' ', before, after, base) from ${history} h where connection = $1`,
    [connection],
  );
  return rows.flatMap(({ text }) => tokensOf(text.replaceAll('\\n', ' ')));
}

/** What was typed and stands in the records of a side. */
export function tokensIn(side: readonly object[]): readonly string[] {
  return tokensOf(JSON.stringify(side).replaceAll('\\n', ' '));
}
