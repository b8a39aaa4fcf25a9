import { join } from 'node:path';
import { z } from 'zod';
import { columns, type Field, type Grid, type GridTable, type Kind, snakeCase, type Typed } from './grid.ts';
import { type Call, caller, freePort, runToEnd, serve } from './server.ts';
import { rowOf } from './row.ts';

/** The types of its fields; `string` is varchar(255), `timestamp` timestamptz. */
const types: Readonly<Record<Kind, string>> = {
  text: 'string',
  long: 'text',
  choice: 'string',
  moment: 'timestamp',
  number: 'integer',
  // Its decimals have a fixed number of digits, so that 99.9 becomes 99.90.
  decimal: 'float',
  flag: 'boolean',
};

const token = 'leadsync-verify';

export const directus: Grid = {
  title: 'Directus',
  package: {
    name: 'directus',
    version: '12.4.0',
    // The sandbox of its own scripts.
    replaced: { 'isolated-vm': 'module.exports = {};' },
    size: '690 MB, two minutes',
  },
  async start(start) {
    const url = new URL(await start.database('directus'));
    const port = await freePort();
    const program = join(start.installed, 'node_modules/directus/cli.js');
    const env = {
      HOST: '127.0.0.1',
      PORT: `${port}`,
      SECRET: '0123456789abcdef0123456789abcdef',
      DB_CLIENT: 'pg',
      DB_HOST: url.hostname,
      DB_PORT: url.port,
      DB_DATABASE: url.pathname.slice(1),
      DB_USER: url.username,
      DB_PASSWORD: url.password,
      ADMIN_EMAIL: 'a@example.com',
      ADMIN_PASSWORD: 'Passw0rd!x',
      ADMIN_TOKEN: token,
      TELEMETRY: 'false',
    };
    await runToEnd(start, [program, 'bootstrap'], env);
    const call = caller(`http://127.0.0.1:${port}`, { authorization: `Bearer ${token}` }, start.signal);
    await serve(start, [program, 'start'], env, async () => {
      const pong = await fetch(`http://127.0.0.1:${port}/server/ping`);
      return pong.ok;
    });
    return {
      adopts: url.href,
      async makeTable(name) {
        const special = (field: string, type: string, what: string) => ({
          field,
          type,
          meta: { special: [what] },
        });
        await call('POST', '/collections', {
          collection: name,
          schema: {},
          // What its form offers to fill by itself.
          meta: { archive_field: 'extra', archive_value: 'archived', sort_field: 'sort' },
          fields: [
            { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
            ...columns.map(([field, kind]) => ({
              field: snakeCase(field),
              type: types[kind],
              ...(field === 'leadId' && { schema: { is_unique: true } }),
            })),
            { field: 'sort', type: 'integer' },
            special('date_created', 'timestamp', 'date-created'),
            special('date_updated', 'timestamp', 'date-updated'),
            special('user_created', 'uuid', 'user-created'),
            special('user_updated', 'uuid', 'user-updated'),
          ],
        });
        return tableOf(call, name, url.href);
      },
      async adoptTable(name) {
        // It remembers the columns of all tables; so does a person who restarts it.
        await call('POST', '/utils/cache/clear?system');
        return tableOf(call, name, url.href);
      },
    };
  },
};

const listed = z.object({ data: z.array(z.looseObject({ id: z.coerce.number() })) });

function tableOf(call: Call, name: string, url: string): GridTable {
  const items = `/items/${name}`;
  const own = (typed: Typed) =>
    Object.fromEntries(Object.entries(typed).map(([field, value]) => [snakeCase(field), value]));
  return {
    name,
    url,
    column: snakeCase,
    async list() {
      const { data } = listed.parse(await call('GET', `${items}?limit=-1&sort=id`));
      return data.map((item) => rowOf(item.id, (field: Field) => item[snakeCase(field)]));
    },
    async add(rows) {
      const { data } = listed.parse(await call('POST', items, rows.map(own)));
      return data.map(({ id }) => id);
    },
    async edit(rows) {
      await call(
        'PATCH',
        items,
        rows.map(([id, typed]) => ({ id, ...own(typed) })),
      );
    },
    async remove(keys) {
      await call('DELETE', items, keys);
    },
    async reshape() {
      await call('PATCH', `/fields/${name}/city`, { schema: { is_nullable: true }, meta: { hidden: true } });
      const choices = ['new', 'won'].map((value) => ({ text: value.toUpperCase(), value }));
      const meta = { interface: 'select-dropdown', options: { choices }, required: true };
      await call('PATCH', `/fields/${name}/stage`, { meta });
      await call('POST', `/fields/${name}`, {
        field: 'mood',
        type: 'string',
        schema: { default_value: 'good' },
      });
      return 'a field hidden, one made a required dropdown, a new one with a default';
    },
  };
}
