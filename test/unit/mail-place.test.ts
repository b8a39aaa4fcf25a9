import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { composeFor } from '../../src/reminders/compose/compose-reminder.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';

const dueAt = Date.parse('2026-11-21T13:30:00Z');

/** The line of a mail that tells where the lead stands; `row` as the target counted when it was last read. */
async function placeIn(
  target: string,
  row: number | null,
  env: NodeJS.ProcessEnv,
  place: string | null = null,
): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'leadsync-mail-'));
  try {
    const needed = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', REMINDER_TO: 'a@example.com' };
    const config = await loadConfig({ env: { ...needed, TARGET: target, ...env }, cwd });
    const [connection] = config.connections;
    if (connection?.reminders === undefined) throw new Error('no reminders');
    const { text } = composeFor(
      {
        connection,
        place,
        settings: connection.reminders,
        recipient: 'a@example.com',
        leadId: 'id-1',
        cells: { companyName: 'Anna AG' },
        dueAt,
        kind: 'reminder',
        offsetText: '0m',
        sequence: 0,
        changes: [],
        row,
        notes: {},
        now: dueAt,
      },
      await openTemplates(null, () => {}),
    );
    return text.split('\n').find((line) => /^(Row|In) /.test(line)) ?? text;
  } finally {
    await rm(cwd, { recursive: true });
  }
}

const hubspot = { HUBSPOT_TOKEN: 't' };

const inTable = { POSTGRES_TABLE_URL: 'postgres://u:geheim@h/d' };

test.each([
  ['leads.csv', 17, {}, 'Row 17 of leads.csv when it was last read'],
  [
    'google-sheets:1AbC/Open',
    17,
    {},
    'Row 17 of Open when it was last read: https://docs.google.com/spreadsheets/d/1AbC/edit',
  ],
  ['hubspot', 51_234_567_890, hubspot, 'In HubSpot'],
  ['postgres-table:crm.leads', 3, inTable, 'In table crm.leads'],
])('of %s, row %s', async (target, row, env, line) => {
  expect(await placeIn(target, row, env)).toBe(line);
});

test('a company has an address where the portal is known, while the company is', async () => {
  const address = 'https://app.hubspot.com/contacts/4711/record/0-2/51234567890';
  expect(await placeIn('hubspot', 51_234_567_890, hubspot, 'hubspot:4711/companies')).toBe(
    `In HubSpot: ${address}`,
  );
  expect(await placeIn('hubspot', null, hubspot, 'hubspot:4711/companies')).toBe('In HubSpot');
});
