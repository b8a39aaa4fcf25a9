import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { planEdited, planSynced } from '../../../src/worker/plan-mails.ts';
import { syncCalendars } from '../../../src/worker/sync-calendars.ts';
import type { RequestedEdit } from '../../../src/store/requested-edits.ts';
import { calendarProgram, password, type Radicale } from '../../support/radicale.ts';
import { type ConnectionSettings, connectionName, Workspace } from '../../support/workspace.ts';

const never = new AbortController().signal;

export const monday = '2031-03-03T08:00:00.000Z';
export const tuesday = '2031-03-04T08:00:00.000Z';
export const friday = '2031-03-07T08:00:00.000Z';

interface SceneOptions {
  readonly leads?: number;
  /** Users of Radicale with a calendar. */
  readonly users?: readonly string[];
  readonly reminders?: object;
  /** Settings of each calendar besides the access. */
  readonly calendar?: object;
  /** The address of a calendar, as leadsync is to see it. */
  readonly through?: (url: string) => string;
  readonly connection?: ConnectionSettings;
  readonly env?: NodeJS.ProcessEnv;
}

/** How many calendars the tests of a server have used: each scene has its own. */
let used = 0;

/** Leads due on Monday and in step, and calendars that leadsync has not seen yet. */
export async function calendarScene(server: Radicale, options: SceneOptions = {}) {
  const { leads = 1, users = ['anna'], through = (url: string) => url } = options;
  used += 1;
  const name = `leads${used}`;
  const urls = new Map<string, string>();
  for (const user of users) urls.set(user, await server.calendar(user, name));
  const caldav = Object.fromEntries(
    [...urls].map(([user, url]) => [
      `${user}@example.com`,
      { url: through(url), username: user, password: '${DAV_PASSWORD}', ...options.calendar },
    ]),
  );
  const to = users.map((user) => `${user}@example.com`);
  const { connection = {} } = options;
  const reminders = { to, timeZone: 'Europe/Berlin', caldav, ...options.reminders };
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: { ...connection, reminders },
      env: { DAV_PASSWORD: password, ...options.env },
    }),
  );
  for (let nth = 1; nth <= leads; nth++)
    workspace.sandbox.leads.add({ companyName: `Lead ${nth}`, stage: 'new', nextFollowUpAt: monday });
  const app: WorkerApp = stack.use(await workspace.openApp());
  const sync = async (): Promise<void> => {
    await workspace.sync();
    await planSynced(app, connectionName);
  };
  await sync();
  const { pool } = workspace.database;
  const owned = stack.move();
  return {
    workspace,
    app,
    pool,
    sync,
    /** A pass over all calendars, as the job makes it. */
    pass: (one: WorkerApp = app) => syncCalendars(one, never),
    /** What people requested is carried out, as the job does. */
    carryOut: async () => {
      await workspace.sync({ mode: 'edit' });
      await planEdited(app, connectionName);
    },
    program: (user = 'anna') => calendarProgram(urls.get(user) ?? '', user),
    entries: (user = 'anna') => server.entries(user, name),
    /** The dates of a user's entries, as they are written. */
    dates: async (user = 'anna') => {
      const texts = await server.entries(user, name);
      return texts
        .map((text) => /BEGIN:V(?:EVENT|TODO).*?^(?:DTSTART|DUE)(.*?)\r?$/ms.exec(text)?.[1] ?? '')
        .toSorted();
    },
    /** When the service has the leads due, in their order. */
    due: () => workspace.sandbox.leads.list().map((lead) => lead['nextFollowUpAt'] ?? null),
    /** Moves a lead in the service. */
    move: (nextFollowUpAt: string | null, nth = 0) => {
      const id = workspace.sandbox.leads.list()[nth]?.id ?? '';
      workspace.sandbox.leads.edit(id, { nextFollowUpAt });
    },
    edits: async () => {
      const { rows } = await pool.query<RequestedEdit>(
        `select state, base #>> '{}' as "from", row_value #>> '{}' as "to", requested_by as "requestedBy", code from held
         where kind = 'edit' order by id`,
      );
      return rows;
    },
    calendars: async () => {
      const { rows } = await pool.query<{ recipient: string; code: string | null; note: string | null }>(
        'select recipient, code, note from calendars order by recipient',
      );
      return rows;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
