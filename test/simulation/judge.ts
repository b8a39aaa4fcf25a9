import type pg from 'pg';
import { readInstant } from '../../src/lead/instant.ts';
import type { People } from './people.ts';
import { columns, entityOf, type Field, fieldNames, tokensOf } from './tokens.ts';
import type { World } from './world.ts';

interface HeldRow {
  readonly leadId: string;
  readonly field: string;
  readonly row: number | null;
  readonly code: string;
  readonly message: string;
}

/** What is wrong after a night that has come to rest; empty when nothing is. */
export async function judge(world: World, people: People, pool: pg.Pool): Promise<string[]> {
  const faults: string[] = [];
  const leads = world.sandbox.leads.list();
  const rows = rowsOfGrid((await world.table.grid()) ?? []);
  const { rows: held } = await pool.query<HeldRow>(
    `select lead_id as "leadId", field, row_number as row, code, message from held`,
  );
  const doubted = await inDoubt(world, pool);
  if (world.sandbox.stats.early > 0) faults.push(`${world.sandbox.stats.early} requests came too early`);

  const leadsOf = Map.groupBy(leads, (lead) => entityOf(lead.companyName) ?? '?');
  const rowsOf = Map.groupBy(rows, ({ row }) => entityOf(row['Company'] ?? '') ?? '?');
  const entities = new Set([
    ...leadsOf.keys(),
    ...rowsOf.keys(),
    ...people.edits.map(({ entity }) => entity),
  ]);
  for (const entity of entities) {
    const own = leadsOf.get(entity) ?? [];
    const ownRows = rowsOf.get(entity) ?? [];
    if (own.length > 1)
      faults.push(`${entity} is ${own.length} leads: ${own.map(({ id }) => id).join(', ')}`);
    if (ownRows.length > 1) faults.push(`${entity} is ${ownRows.length} rows`);
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
        world.connection.sync.onLeadDeleted !== 'remove'
      )
        faults.push(`the row of ${entity} is gone, though only its lead was deleted`);
      continue;
    }
    const [lead] = own;
    const [found] = ownRows;
    if (found === undefined) {
      // It may be the lead of a create that is in doubt: a person is asked which.
      if (held.some(({ code, message }) => code === 'create.in-doubt' && message.includes(lead?.id ?? '?')))
        continue;
      faults.push(`${entity} has no row (lead ${lead?.id})`);
      continue;
    }
    const { row, number } = found;
    const byRow = held.filter(
      (item) => (row['Lead ID'] ?? '') === '' && (item.row === number || item.code.startsWith('create.')),
    );
    if (byRow.length > 0) {
      people.heldRows++;
      continue;
    }
    if (lead === undefined && doubted.has(entity)) continue;
    if (lead === undefined) {
      faults.push(`${entity} has no lead (row ${number} ${JSON.stringify(row)})`);
      continue;
    }
    if (row['Lead ID'] !== lead.id) {
      faults.push(
        `row ${number} of ${entity} has the id ${JSON.stringify(row['Lead ID'])}, the lead is ${lead.id}`,
      );
      continue;
    }
    for (const field of fieldNames) {
      if (held.some((item) => item.leadId === lead.id && (item.field === field || item.field === '')))
        continue;
      const left = shown(field, lead[field]);
      const right = shown(field, row[columns[field]]);
      if (left !== right) {
        faults.push(
          `${entity}.${field}: lead ${lead.id} has ${JSON.stringify(left)}, row ${number} ${JSON.stringify(right)}`,
        );
        continue;
      }
      if (people.doubled.has(entity)) continue;
      const tonight = people.edits.filter(
        (edit) => edit.entity === entity && edit.field === field && edit.night === people.night,
      );
      const last = tonight.at(-1);
      if (last === undefined) continue;
      const expected = [...new Set(tonight.map(({ side }) => side))].map((side) =>
        shown(field, tonight.findLast((edit) => edit.side === side)?.value),
      );
      // A row's edit that was taken back to what the lead shows, and so on: only somebody's last word may stand.
      // A service with stages gives a new lead the first one.
      if (field === 'stage' && left === 'new' && expected.includes('')) continue;
      if (!expected.includes(left) && !people.heldFields.has(`${entity}.${field}`))
        faults.push(
          `${entity}.${field} shows ${JSON.stringify(left)}, but the last word was ${JSON.stringify(expected)}`,
        );
    }
  }
  for (const item of held) {
    const lead = leads.find(({ id }) => id === item.leadId);
    const entity = lead && entityOf(lead.companyName);
    if (entity !== null && entity !== undefined) people.heldFields.add(`${entity}.${item.field}`);
  }
  faults.push(...world.witness.faults, ...(await judgeReminders(pool)));
  faults.push(...(await lostEdits(world, people, pool)));
  return faults;
}

/** Companies whose create is in doubt and stays so: a scan with a filter does not tell that a lead was not made. */
async function inDoubt({ connection }: World, pool: pg.Pool): Promise<ReadonlySet<string | null>> {
  if (Object.keys(connection.leads.query).length === 0) return new Set();
  const { rows } = await pool.query<{ name: string | null }>(
    `select row_cells->>'companyName' as name from intents where state = 'in-doubt'`,
  );
  return new Set(rows.map(({ name }) => entityOf(name ?? '')));
}

/** No reminder is scheduled but for what both sides agree on, and none of that is without one. */
async function judgeReminders(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ lead: string; due: string; wanted: boolean }>(
    `select coalesce(r.lead_id, p.lead_id) as lead, coalesce(r.due_at, p.due) as due, p.lead_id is not null as wanted
     from (select lead_id, due_at from reminders where state = 'scheduled') r
     full join (select lead_id, (base->>'nextFollowUpAt')::timestamptz as due from pairs
       where lead_deleted_at is null and base->>'nextFollowUpAt' ~ '^\\d{4}-') p
       on p.lead_id = r.lead_id and p.due = r.due_at
     where r.lead_id is null or p.lead_id is null order by 1`,
  );
  return rows.map(({ lead, due, wanted }) =>
    wanted
      ? `no reminder of ${lead} for ${due}`
      : `a reminder of ${lead} for ${due} stands for a value that is gone`,
  );
}

function rowsOfGrid([headings = [], ...records]: readonly (readonly string[])[]) {
  const rows = records.map((record, index) => ({
    number: index + 2,
    row: Object.fromEntries(headings.map((heading, column) => [heading, record[column] ?? ''])),
  }));
  // Where a row of a workbook was removed its place is empty.
  return rows.filter(({ row }) => Object.values(row).some((text) => text !== ''));
}

async function lostEdits(world: World, people: People, pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select concat_ws(' ', lead_value, row_value, base) as text from held
     union all select concat_ws(' ', before, after, base) from history`,
  );
  const kept = new Set(people.replaced);
  for (const text of [
    JSON.stringify(world.sandbox.leads.list()),
    JSON.stringify((await world.table.grid()) ?? []),
    ...rows.map(({ text }) => text),
  ])
    for (const token of tokensOf(text.replaceAll('\\n', ' '))) kept.add(token);
  return [...people.all.keys()]
    .filter((token) => !kept.has(token))
    .map((token) => `the edit ${token} (${people.all.get(token)}) is nowhere`);
}

function shown(field: Field, value: string | null | undefined): string {
  const text = (value ?? '').replace(/^'(?=\s*[=+@-])/, '').trim();
  return field === 'nextFollowUpAt' && text !== '' ? (readInstant(text, 'UTC') ?? text) : text;
}
