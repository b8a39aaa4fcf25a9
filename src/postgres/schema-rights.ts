import type pg from 'pg';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

/** SQLSTATE. */
const insufficientPrivilege = '42501';

/**
 * Runs what makes the tables of a schema. Throws `database.forbidden`, with what a DBA has to run, when the user lacks the right:
 * many providers give nobody that of making schemas.
 */
export async function withSchemaRights<T>(db: Pick<pg.Pool, 'query'>, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    if (codeOf(cause) !== insufficientPrivilege) throw cause;
    const { rows } = await db.query<{ role: string; place: string }>(
      'select quote_ident(current_user) as role, current_database() as place',
    );
    const { role = 'the user', place = '' } = rows[0] ?? {};
    const statements = ['leadsync', 'bullmq'].map(
      (schema) => `create schema if not exists ${schema}; alter schema ${schema} owner to ${role};`,
    );
    throw new LeadsyncError(
      'database.forbidden',
      `The user ${role} may not make the tables of leadsync in the database ${place}. Nothing was changed`,
      { help: `Let its owner or a superuser run there: ${statements.join(' ')}`, cause },
    );
  }
}

/** Makes a schema unless it is there: "if not exists" needs the right to make schemas even when there is nothing to make. */
export async function makeSchema(
  db: Pick<pg.ClientBase, 'query'>,
  name: 'leadsync' | 'bullmq',
): Promise<void> {
  const { rows } = await db.query('select from pg_namespace where nspname = $1', [name]);
  if (rows.length === 0) await db.query(`create schema if not exists ${name}`);
}
