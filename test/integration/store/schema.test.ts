import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { schemaPage } from '../../docs/schema-page.ts';
import { createTestDatabase } from '../../support/database.ts';

test('docs/schema.md is what the database has, and says what each table is for', async () => {
  const database = await createTestDatabase();
  try {
    const page = await schemaPage(database.pool);
    expect(page).not.toMatch(/^- `\w+`: $/m);
    expect(await readFile(new URL('../../../docs/schema.md', import.meta.url), 'utf8')).toBe(page);
  } finally {
    await database.drop();
  }
});
