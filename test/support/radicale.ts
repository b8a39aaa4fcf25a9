import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDAVClient } from 'tsdav';
import { freePort } from './mail-server.ts';
import { until } from './until.ts';

export const password = 'r4dicale-pw';

export interface Radicale extends AsyncDisposable {
  readonly origin: string;
  /** The address of a calendar of `anna` or `bert`, made when it is not there. */
  calendar(user?: string, name?: string): Promise<string>;
  /** The files of a calendar. */
  entries(user?: string, name?: string): Promise<readonly string[]>;
}

/** A real CalDAV server with the users anna and bert, gone with its folder when it is disposed. */
export async function startRadicale(): Promise<Radicale> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-radicale-'));
  await writeFile(join(folder, 'users'), `anna:${password}\nbert:${password}\n`);
  const settings = {
    server: { hosts: `127.0.0.1:${port}` },
    auth: {
      type: 'htpasswd',
      htpasswd_filename: join(folder, 'users'),
      htpasswd_encryption: 'plain',
      delay: 0,
    },
    storage: { filesystem_folder: join(folder, 'collections') },
    logging: { level: 'error' },
  };
  const sections = Object.entries(settings).map(([name, keys]) => {
    const lines = Object.entries(keys).map(([key, value]) => `${key} = ${value}`);
    return [`[${name}]`, ...lines].join('\n');
  });
  await writeFile(join(folder, 'conf'), `${sections.join('\n')}\n`);
  const child: ChildProcess = spawn('radicale', ['--config', join(folder, 'conf')], { stdio: 'ignore' });
  const origin = `http://127.0.0.1:${port}`;
  await until('Radicale answers', () =>
    fetch(`${origin}/.web/`).then(
      () => true,
      () => false,
    ),
  );
  const path = (user: string, name: string): string =>
    join(folder, 'collections/collection-root', user, name);
  return {
    origin,
    async calendar(user = 'anna', name = 'leads') {
      const url = `${origin}/${user}/${name}/`;
      const authorization = `Basic ${btoa(`${user}:${password}`)}`;
      await fetch(url, { method: 'MKCALENDAR', headers: { authorization } });
      return url;
    },
    async entries(user = 'anna', name = 'leads') {
      const names = (await readdir(path(user, name))).filter((file) => file.endsWith('.ics'));
      return Promise.all(names.map((file) => readFile(join(path(user, name), file), 'utf8')));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A person's calendar program, which knows nothing of leadsync. */
export async function calendarProgram(url: string, user = 'anna') {
  const client = await createDAVClient({
    serverUrl: new URL(url).origin,
    credentials: { username: user, password },
    authMethod: 'Basic',
    defaultAccountType: 'caldav',
  });
  const calendar = { url };
  // By itself it asks for appointments alone.
  const whole = { 'comp-filter': { _attributes: { name: 'VCALENDAR' } } };
  const all = () => client.fetchCalendarObjects({ calendar, filters: whole });
  return {
    all,
    /** Changes the text of every entry that `which` finds in it. */
    async edit(which: string, change: (text: string) => string): Promise<void> {
      for (const object of await all()) {
        const text = String(object.data);
        if (!text.includes(which)) continue;
        const reply = await client.updateCalendarObject({
          calendarObject: { ...object, data: change(text) },
        });
        if (!reply.ok) throw new Error(`the edit was refused: ${reply.status}`);
      }
    },
    async remove(which: string): Promise<void> {
      for (const object of await all())
        if (String(object.data).includes(which))
          await client.deleteCalendarObject({ calendarObject: object });
    },
    async add(name: string, text: string): Promise<void> {
      await client.createCalendarObject({ calendar, filename: name, iCalString: text });
    },
  };
}
