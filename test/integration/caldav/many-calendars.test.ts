import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { syncCalendars } from '../../../src/worker/sync-calendars.ts';
import { freePort } from '../../support/mail-server.ts';
import { Workspace } from '../../support/workspace.ts';

test('more connections with calendars than there are connections to the database', async () => {
  const url = `http://127.0.0.1:${await freePort()}/anna/`;
  const caldav = { 'anna@example.com': { url, username: 'anna', password: 'secret' } };
  const reminders = { to: ['anna@example.com'], caldav };
  const others = Object.fromEntries(Array.from({ length: 9 }, (_, nth) => [`c${nth}`, { reminders }]));
  await using workspace = await Workspace.open({ connection: { reminders }, others });
  await using app = await workspace.openApp();
  app.pool.options.max = 8;
  const done = syncCalendars(app, new AbortController().signal).then(() => 'done');
  expect(await Promise.race([done, sleep(15_000, 'stuck')])).toBe('done');
  const { rows } = await app.pool.query('select connection from calendars');
  expect(rows).toHaveLength(10);
});
