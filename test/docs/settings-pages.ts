import { z } from 'zod';
import { fileSchema } from '../../src/config/schema.ts';
import { type Setting, settings } from '../../src/config/settings.ts';

/** The content of leadsync.schema.json: leadsync.yaml for editors; draft 7 is what the YAML language server knows best. */
export function configJsonSchemaText(): string {
  const schema = z.toJSONSchema(fileSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      delete jsonSchema['env'];
      delete jsonSchema['secret'];
    },
  });
  return `${JSON.stringify({ title: 'leadsync.yaml', ...schema }, null, 2)}\n`;
}

/** `FIELD: Heading` is `FIELD: { column: Heading }`. */
const isOwn = ({ path = '' }: Setting): boolean => !path.endsWith('.fields.FIELD.column');

/** Every setting as a Markdown table, for docs/settings.md. */
export function settingsTable(): string {
  const rows = settings
    .filter(isOwn)
    .map(({ variable, secret, path, default: preset, meaning }) => [
      code(variable) + (secret === true && variable !== undefined ? ` or ${code(`${variable}_FILE`)}` : ''),
      code(path),
      code(preset),
      meaning.replaceAll('|', '\\|').replaceAll('<', '&lt;'),
    ]);
  return [['variable', 'in leadsync.yaml', 'default', 'meaning'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
