import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { TestRedis } from './redis.ts';

/** Variables whose whole value is a secret. */
const secretNames = /(KEY|TOKEN|PASSWORD|WEBHOOK|HEARTBEAT)$/;

/** What an environment holds that nobody may ever see: keys, tokens, and the passwords in URLs. */
export function secretsOf(env: NodeJS.ProcessEnv): readonly string[] {
  const found = Object.entries(env).flatMap(([name, value = '']) => {
    if (secretNames.test(name)) return [value];
    return URL.canParse(value) ? passwordForms(new URL(value)) : [];
  });
  return [...new Set(found)].filter((secret) => secret.length >= 8);
}

/** A password as it stands in a URL, as it is, and as SMTP (AUTH PLAIN, LOGIN) and HTTP (Basic) send it. */
function passwordForms({ username, password }: URL): readonly string[] {
  if (password === '') return [];
  const [user, plain] = [decodeURIComponent(username), decodeURIComponent(password)];
  const sent = [plain, `\0${user}\0${plain}`, `${user}:${plain}`];
  return [password, plain, ...sent.map((text) => Buffer.from(text).toString('base64'))];
}

/** Throws when one of the secrets stands in a text, without saying which. */
export function assertNoSecrets(where: string, text: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    if (at < 0) continue;
    const around = text.slice(Math.max(0, at - 200), at + 200).replaceAll(secret, '<SECRET>');
    throw new Error(`a secret stands in ${where}: …${around}…`);
  }
}

/** Throws when a secret stands in the command line of a process or of one that it started: `ps` shows it to everybody. */
export async function assertNotInCommandLines(pid: number, secrets: readonly string[]): Promise<void> {
  const read = (path: string): Promise<string> => readFile(`/proc/${path}`, 'utf8').catch(() => '');
  assertNoSecrets(`the command line of process ${pid}`, await read(`${pid}/cmdline`), secrets);
  const children = (await read(`${pid}/task/${pid}/children`)).split(' ').filter(Boolean);
  await Promise.all(children.map((child) => assertNotInCommandLines(Number(child), secrets)));
}

const emailAddress = /[\w.+-]+@[\w-]+\.[\w.-]+/;

/**
 * Throws when an e-mail address, or one of the texts, of people and firms, stands in a log line; sentences for people on
 * stderr are none.
 */
export function assertNotLogged(stderr: string, personal: readonly string[]): void {
  for (const line of stderr.split('\n')) {
    if (!line.startsWith('{"level":')) continue;
    const found =
      personal.find((text) => line.includes(JSON.stringify(text).slice(1, -1))) ??
      emailAddress.exec(line)?.[0];
    if (found !== undefined) throw new Error(`data of a lead (${found}) stands in a log line: ${line}`);
  }
}

/** Throws when a secret stands in any key or value of a Redis. */
export async function assertNotInRedis(redis: TestRedis, secrets: readonly string[]): Promise<void> {
  // A test may have stopped it, or let it ask for a password.
  const saved = await redis
    .command('CONFIG', 'SET', 'rdbcompression', 'no')
    .then(() => redis.command('SAVE'))
    .catch(() => null);
  if (saved === null) return;
  assertNoSecrets('Redis', await readFile(join(redis.folder, 'dump.rdb'), 'latin1'), secrets);
}

/** Throws when a secret stands in anything that was stored: a row of any table, jobs among them, or a file. */
export async function assertNotStored(
  pool: pg.Pool,
  folder: string,
  secrets: readonly string[],
): Promise<void> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('leadsync', 'bullmq')`,
  );
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(
      `select t::text as text from ${name} t where exists (select from unnest($1::text[]) s where position(s in t::text) > 0) limit 1`,
      [secrets],
    );
    for (const { text } of rows) assertNoSecrets(`table ${name}`, text, secrets);
  }
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names.filter((one) => /\.(eml|json|html)$/.test(one))) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    assertNoSecrets(name, text, secrets);
  }
}
