import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

/** Variables whose whole value is a secret. */
const secretNames = /(KEY|TOKEN|PASSWORD|WEBHOOK|HEARTBEAT)$/;

/** What an environment holds that nobody may ever see: keys, tokens, and the passwords in URLs. */
export function secretsOf(env: NodeJS.ProcessEnv): readonly string[] {
  const found = Object.entries(env).flatMap(([name, value = '']) => {
    if (secretNames.test(name)) return [value];
    const password = URL.canParse(value) ? new URL(value).password : '';
    return [password, decodeURIComponent(password)];
  });
  return [...new Set(found)].filter((secret) => secret.length >= 8);
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
