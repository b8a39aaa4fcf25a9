import { z } from 'zod';
import { fileSchema } from '../../src/config/schema.ts';
import { type Setting, settings } from '../../src/config/settings.ts';
import { compact } from './table.ts';

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
  const rows = settings.filter(isOwn).map(({ variable, secret, path, default: preset, meaning }) => {
    const names = [
      path,
      variable,
      secret === true && variable !== undefined ? `${variable}_FILE` : undefined,
    ];
    return [
      names.flatMap((name) => (name === undefined ? [] : [`\`${name}\``])).join(' '),
      meaning.replaceAll('|', '\\|').replaceAll('<', '&lt;'),
      preset === undefined ? '' : `\`${preset}\``,
    ];
  });
  return compact([['setting', 'meaning', 'default'], ['---', '---', '---'], ...rows]);
}
