import pg from 'pg';

/** Runs one statement in a session of its own, as `create database` wants it. */
export async function administrate(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
