import { readFile, writeFile } from 'node:fs/promises';
import { commandsTable } from './commands-table.ts';
import { metricsTable } from './metrics-table.ts';

// `npm run docs`: the tables of docs/commands.md and docs/monitoring.md, each between its two marks.
await writeTable('commands', commandsTable());
await writeTable('monitoring', await metricsTable());

async function writeTable(name: string, table: string): Promise<void> {
  const page = new URL(`../../docs/${name}.md`, import.meta.url);
  const text = await readFile(page, 'utf8');
  const between = /(<!-- table:[^\n]*-->\n)[\s\S]*?(<!-- \/table -->)/;
  if (!between.test(text)) throw new Error(`docs/${name}.md has no marks for its table`);
  await writeFile(
    page,
    text.replace(between, (_, start: string, end: string) => `${start}${table}${end}`),
  );
}
