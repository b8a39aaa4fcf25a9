import { readFile, writeFile } from 'node:fs/promises';
import { configJsonSchemaText, settingsTable } from './settings-pages.ts';

// `npm run schema`: leadsync.schema.json, and the table of settings in docs/settings.md between its two marks.
await writeFile(new URL('../../leadsync.schema.json', import.meta.url), configJsonSchemaText());
const page = new URL('../../docs/settings.md', import.meta.url);
const text = await readFile(page, 'utf8');
const between = /(<!-- settings:[^\n]*-->\n)[\s\S]*?(<!-- \/settings -->)/;
if (!between.test(text)) throw new Error('docs/settings.md has no marks for the table of settings');
await writeFile(
  page,
  text.replace(between, (_, start: string, end: string) => `${start}${settingsTable()}${end}`),
);
