import { type Family, nothing } from './problem-codes/families.ts';
import { ofCommands } from './problem-codes/of-commands.ts';
import { ofEdits } from './problem-codes/of-edits.ts';
import { ofPlaces } from './problem-codes/of-places.ts';
import { compact } from './table.ts';

export const families: readonly Family[] = [...ofEdits, ...ofPlaces, ...ofCommands];

/** The content of docs/problems.md. */
export function problemsPage(): string {
  const intro = `# Problems, by their codes

A report, a message, an alert and the log name a problem by its code. What each means, and what to do; where nothing is to
be done, no advice stands.
`;
  return [intro, ...families.map(section)].join('\n');
}

function section({ title, about, codes }: Family): string {
  const lines = Object.entries(codes).map(([code, [means, help]]) => [
    `\`${code}\``,
    means,
    help === nothing ? '' : help,
  ]);
  const said = about === '' ? '' : `${about}\n\n`;
  return `## ${title}\n\n${said}${compact([['code', 'means', 'do'], ['---', '---', '---'], ...lines])}`;
}
