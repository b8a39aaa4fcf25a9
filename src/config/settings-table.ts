import { type Setting, settings } from './settings.ts';

/** Every setting as a Markdown table, for docs/settings.md. */
export function settingsTable(): string {
  const rows = settings.map((setting: Setting) =>
    row([
      setting.variable === undefined
        ? ''
        : code(setting.variable) + (setting.secret === true ? ` or ${code(`${setting.variable}_FILE`)}` : ''),
      setting.path === undefined ? '' : code(setting.path),
      setting.default === undefined ? '' : code(setting.default),
      setting.meaning.replaceAll('|', '\\|').replaceAll('<', '&lt;'),
    ]),
  );
  return `${[row(['variable', 'in leadsync.yaml', 'default', 'meaning']), row(['---', '---', '---', '---']), ...rows].join('\n')}\n`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
