import { readFile, writeFile } from 'node:fs/promises';
import { settingsTable } from './settings-table.ts';

// `npm run schema`: the table of settings in README.md, between its two marks.
const readme = new URL('../../README.md', import.meta.url);
const text = await readFile(readme, 'utf8');
const between = /(<!-- settings:[^\n]*-->\n)[\s\S]*?(<!-- \/settings -->)/;
if (!between.test(text)) throw new Error('README.md has no marks for the table of settings');
await writeFile(
  readme,
  text.replace(between, (_, start: string, end: string) => `${start}${settingsTable()}${end}`),
);
