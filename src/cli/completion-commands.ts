import type { Command } from 'commander';

/** The values of an option or argument: these words, files, the connections of leadsync.yaml, or anything. */
export type Follows = readonly string[] | 'files' | 'connections' | 'anything';

interface CompletedOption {
  /** Such as `--config`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined when it takes no value. */
  readonly value?: Follows;
  readonly repeats: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Of its first argument; undefined when it takes none. */
  readonly argument?: Follows;
}

/** The commands of a program as completions need them. */
export function completedCommands(program: Command): readonly CompletedCommand[] {
  const help = program.createHelp();
  return help.visibleCommands(program).map((command) => {
    const [argument] = command.registeredArguments;
    return {
      name: command.name(),
      description: firstClause(command.description()),
      options: help.visibleOptions(command).map((option) => ({
        flag: option.long ?? '',
        description: firstClause(option.description),
        repeats: option.variadic || option.description.includes('may be repeated'),
        ...((option.required || option.optional) && { value: follows(option.flags, option.argChoices) }),
      })),
      ...(command.name() === 'help'
        ? { argument: program.commands.map((other) => other.name()) }
        : argument && { argument: follows(`<${argument.name()}>`, argument.argChoices) }),
    };
  });
}

function follows(flags: string, choices: readonly string[] | undefined): Follows {
  if (choices !== undefined) return choices;
  if (/<(?:file|folder)>/.test(flags)) return 'files';
  return flags.startsWith('--connection ') ? 'connections' : 'anything';
}

/** Enough for a list, and free of what ends a word in some shell. */
function firstClause(description: string): string {
  return (/^[^;:(]*/.exec(description)?.[0] ?? '').replaceAll(/['"`[\]\\$]/g, '').trim();
}

/**
 * For a POSIX shell: prints the connections of the leadsync.yaml in this folder. Only names of which no shell makes anything else.
 */
export const listConnections =
  String.raw`sed -n '/^connections:/,/^[^ #]/s/^  \([A-Za-z0-9_.-]*\):.*/\1/p' "$` +
  '{LEADSYNC_CONFIG:-leadsync.yaml}" 2>/dev/null';
