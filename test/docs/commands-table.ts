import { createProgram } from '../../src/cli/program.ts';
import { compact } from './table.ts';

/** Options that every command has. */
const common = ['--connection', '--config', '--json'];

/** What their options mean, `--help` says alone: for they are asked for one by one, or told on other pages. */
const flagsAlone = ['demo', 'init', 'resolve', 'sandbox'];

/** Every command with its options as a Markdown table, for docs/commands.md: what `--help` says. */
export function commandsTable(): string {
  const rows = createProgram().commands.map((command) => {
    const given = command.registeredArguments.map((argument) =>
      argument.required ? argument.name().toUpperCase() : `[${argument.name().toUpperCase()}]`,
    );
    const options = command.options.flatMap(({ long, flags, description }) =>
      common.includes(long ?? '') || flags.startsWith('--connection,')
        ? []
        : `<br>\`${flags}\`${flagsAlone.includes(command.name()) ? '' : ` ${description}`}`,
    );
    const does = `${command.description()}${options.join('')}`.replaceAll('|', '\\|');
    return [`\`${[command.name(), ...given].join(' ')}\``, does];
  });
  return compact([['command', 'does'], ['---', '---'], ...rows]);
}
