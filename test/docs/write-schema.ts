import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { schemaPage } from './schema-page.ts';

const folder = await mkdtemp(join(tmpdir(), 'leadsync-schema-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres(folder, { durable: false });
const pool = openDatabase({ connectionString: server.connectionString });
await migrate(pool);
await writeFile(new URL('../../docs/schema.md', import.meta.url), await schemaPage(pool));
await pool.end();
await server.close();
await rm(folder, { recursive: true });
