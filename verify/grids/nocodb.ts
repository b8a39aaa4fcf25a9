import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { columns, type Field, type Grid, type GridTable, type Kind, snakeCase, type Typed } from './grid.ts';
import { rowOf } from './row.ts';
import { type Call, caller, freePort, serve } from './server.ts';

const choices = [
  'new',
  'contacted',
  'qualified',
  'proposal',
  'won',
  'lost',
  'SMB',
  'Mid-market',
  'Enterprise',
];

const types: Readonly<Record<Kind, object>> = {
  text: { type: 'SingleLineText' },
  long: { type: 'LongText' },
  choice: { type: 'SingleSelect', options: { choices: choices.map((title) => ({ title })) } },
  moment: { type: 'DateTime', options: { date_format: 'YYYY-MM-DD', time_format: 'HH:mm' } },
  number: { type: 'Number' },
  decimal: { type: 'Decimal', options: { precision: 2 } },
  flag: { type: 'Checkbox' },
};

/** It is a library: this starts it. */
const starter = `const express = require('express');
const { Noco } = require('nocodb');
const server = express();
const http = server.listen(process.env.PORT, '127.0.0.1', async () => server.use(await Noco.init({}, http, server)));
`;

const email = 'a@example.com';
const password = 'Passw0rd!x';
/** The most rows that it takes in one request. */
const batchSize = 10;
const pollMs = 500;
const polls = 60;

export const nocodb: Grid = {
  title: 'NocoDB',
  package: {
    name: 'nocodb',
    version: '0.301.3',
    // Otherwise it is fetched from an address that is no registry.
    overrides: { xlsx: '0.18.5' },
    // Never used with Postgres, but loaded.
    replaced: { sqlite3: 'module.exports = { verbose() { return this; } };' },
    size: '1.4 GB, three minutes',
  },
  async start(start) {
    const own = new URL(await start.database('nocodb'));
    const crm = new URL(await start.database('crm'));
    const port = await freePort();
    const api = `http://127.0.0.1:${port}`;
    const program = join(start.installed, 'start.cjs');
    await writeFile(program, starter);
    const env = {
      NC_DB: `pg://${own.host}?u=${own.username}&p=${own.password}&d=${own.pathname.slice(1)}`,
      NC_AUTH_JWT_SECRET: 'leadsync-verify',
      NC_TOOL_DIR: start.home,
      PORT: `${port}`,
      NC_ADMIN_EMAIL: email,
      NC_ADMIN_PASSWORD: password,
      NC_DISABLE_TELE: 'true',
      NC_ALLOW_LOCAL_EXTERNAL_DBS: 'true',
    };
    await serve(start, [program], env, async () => (await fetch(`${api}/api/v1/health`)).ok);
    const signIn = await caller(api, {}, start.signal)('POST', '/api/v1/auth/user/signin', {
      email,
      password,
    });
    const { token } = z.object({ token: z.string() }).parse(signIn);
    const call = caller(api, { 'xc-auth': token }, start.signal);
    const base = withId.parse(await call('POST', '/api/v2/meta/bases', { title: 'Sales' })).id;
    return {
      adopts: crm.href,
      async makeTable(name) {
        const fields = columns.map(([field, kind]) => ({
          title: titleOf(field),
          ...types[kind],
          ...(field === 'leadId' && { unique: true }),
        }));
        const system = [
          { title: 'Changed', type: 'LastModifiedTime' },
          { title: 'Changed by', type: 'LastModifiedBy' },
        ];
        const body = { title: name, fields: [...fields, ...system] };
        const { id } = withId.parse(await call('POST', `/api/v3/meta/bases/${base}/tables`, body));
        const column = (field: Field) => titleOf(field).replaceAll(' ', '_');
        const place = { name: `${base}.${name}`, url: own.href, column, timeZone: 'UTC' };
        return tableOf(call, { base, id, isOwn: true }, titleOf, place);
      },
      async adoptTable(name) {
        const { hostname: host, port: at, username: user, password: secret, pathname } = crm;
        const connection = { host, port: Number(at), user, password: secret, database: pathname.slice(1) };
        await call('POST', `/api/v2/meta/bases/${base}/sources`, {
          alias: name,
          type: 'pg',
          config: { client: 'pg', connection, searchPath: ['public'] },
          inflection_column: 'none',
          inflection_table: 'none',
          is_schema_readonly: false,
          is_data_readonly: false,
        });
        const id = await found(call, base, name);
        return tableOf(call, { base, id, isOwn: false }, snakeCase, {
          name,
          url: crm.href,
          column: snakeCase,
        });
      },
    };
  },
};

const withId = z.looseObject({ id: z.string() });

/** A heading as people write it: "Lead id", "Next follow up at". */
function titleOf(field: string): string {
  const words = snakeCase(field).replaceAll('_', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** Tables of an external source come after a while, their columns later still. */
async function found(call: Call, base: string, name: string): Promise<string> {
  const tables = z.object({ list: z.array(withId.extend({ title: z.string() })) });
  for (let n = 0; n < polls; n++) {
    const { list } = tables.parse(await call('GET', `/api/v1/db/meta/projects/${base}/tables`));
    const table = list.find(({ title }) => title === name);
    const { fields } = table === undefined ? { fields: [] } : await described(call, base, table.id);
    if (table !== undefined && fields.some(({ title }) => title === 'status')) return table.id;
    await sleep(pollMs);
  }
  throw new Error(`NocoDB does not show the table ${name} of the external source`);
}

async function described(call: Call, base: string, id: string) {
  const table = await call('GET', `/api/v3/meta/bases/${base}/tables/${id}`);
  return z.looseObject({ fields: z.array(withId.extend({ title: z.string() })) }).parse(table);
}

const listed = z.object({
  records: z.array(z.object({ id: z.coerce.number(), fields: z.record(z.string(), z.unknown()) })),
});

function tableOf(
  call: Call,
  { base, id, isOwn }: { readonly base: string; readonly id: string; readonly isOwn: boolean },
  heading: (field: string) => string,
  place: Pick<GridTable, 'name' | 'url' | 'column' | 'timeZone'>,
): GridTable {
  const renamed = new Map<string, string>();
  const title = (field: string) => renamed.get(field) ?? heading(field);
  const records = `/api/v3/data/${base}/${id}/records`;
  const own = (typed: Typed) =>
    Object.fromEntries(Object.entries(typed).map(([field, value]) => [title(field), value]));
  const inBatches = async <T>(rows: readonly T[], send: (batch: readonly T[]) => Promise<void>) => {
    for (let at = 0; at < rows.length; at += batchSize) await send(rows.slice(at, at + batchSize));
  };
  return {
    ...place,
    async list() {
      const answer = listed.parse(await call('GET', `${records}?pageSize=1000`));
      return answer.records.map(({ id: key, fields }) => rowOf(key, (field) => fields[title(field)]));
    },
    async add(rows) {
      const keys: number[] = [];
      await inBatches(rows, async (batch) => {
        const body = batch.map((typed) => ({ fields: own(typed) }));
        keys.push(...listed.parse(await call('POST', records, body)).records.map((record) => record.id));
      });
      return keys;
    },
    edit: (rows) =>
      inBatches(rows, async (batch) => {
        const body = batch.map(([key, typed]) => ({ id: key, fields: own(typed) }));
        await call('PATCH', records, body);
      }),
    remove: (keys) =>
      inBatches(keys, async (batch) => {
        await call(
          'DELETE',
          records,
          batch.map((key) => ({ id: key })),
        );
      }),
    async reshape() {
      const { fields } = await described(call, base, id);
      const change = async (field: Field, body: object) => {
        const { id: fieldId = '' } = fields.find((one) => one.title === title(field)) ?? {};
        await call('PATCH', `/api/v3/meta/bases/${base}/fields/${fieldId}`, body);
      };
      await change('city', { title: 'Town' });
      renamed.set('city', 'Town');
      if (!isOwn) return 'a heading renamed';
      await change('segment', { title: title('segment'), type: 'SingleLineText' });
      const mood = { title: 'Mood', type: 'SingleLineText', default_value: 'good' };
      await call('POST', `/api/v3/meta/bases/${base}/tables/${id}/fields`, mood);
      return 'a heading renamed, a select made a text, a new field with a default';
    },
  };
}
