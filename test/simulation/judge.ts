import { readInstant } from '../../src/lead/instant.ts';
import { entityOf, type Field, fieldNames, columns, type People, tokensOf } from './people.ts';
import type { World } from './world.ts';

interface HeldRow {
  readonly leadId: string;
  readonly field: string;
  readonly row: number | null;
  readonly code: string;
}

/** What is wrong after a night that has come to rest; empty when nothing is. */
export async function judge(world: World, people: People): Promise<string[]> {
  const faults: string[] = [];
  const leads = world.sandbox.leads.list();
  const rows = world.sheet.rows().map((row, index) => ({ row, number: index + 2 }));
  const { rows: held } = await world.pool.query<HeldRow>(
    `select lead_id as "leadId", field, row_number as row, code from held`,
  );
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
  faults.push(...(await lostEdits(world, people)));
  return faults;
}

async function lostEdits(world: World, people: People): Promise<string[]> {
  const { rows } = await world.pool.query<{ text: string }>(
    `select concat_ws(' ', lead_value, row_value, base) as text from held
     union all select concat_ws(' ', before, after, base) from history`,
  );
  const kept = new Set(people.replaced);
  for (const text of [
    JSON.stringify(world.sandbox.leads.list()),
    world.sheet.text(),
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
