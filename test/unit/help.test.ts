import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { examples, createProgram } from '../../src/cli/program.ts';

/** What a call would run: the command and its options. Nothing is run. */
async function parsed(args: readonly string[]): Promise<{ name: string; options: object }> {
  const program = createProgram();
  let called: Command | undefined;
  for (const command of program.commands) {
    command.configureOutput({ writeErr: () => {} }).action((...values: unknown[]) => {
      called = values.at(-1) as Command;
    });
  }
  await program.configureOutput({ writeErr: () => {} }).parseAsync(args, { from: 'user' });
  return { name: called?.name() ?? '', options: called?.opts() ?? {} };
}

/** Words as a shell splits them. */
const words = (line: string): string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
const names = createProgram().commands.map((command) => command.name());

describe('leadsync COMMAND --help', () => {
  test.each(names)('%s has examples, and each is a call that it takes', async (name) => {
    const own = examples[name] ?? [];
    expect(own).not.toEqual([]);
    for (const [line] of own) expect(await parsed(words(line)), line).toMatchObject({ name });
  });

  test('shows them last', () => {
    let help = '';
    const command = createProgram().commands.find((other) => other.name() === 'undo');
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(
      /\nExamples:\n {2}leadsync undo 42\n {6}shows [^\n]+\n {2}leadsync undo 42 --yes\n[^\n]+\n$/,
    );
  });

  test('no default is said twice', () => {
    const helps = createProgram().commands.map((command) => command.helpInformation());
    for (const help of helps) expect(help).not.toMatch(/\(default: [^)]*\)\s+\(default:/);
  });

  test('there are no examples of a command that is not there', () => {
    expect(Object.keys(examples).filter((name) => !names.includes(name))).toEqual([]);
  });
});

test.each(names)('%s takes --connection, --config and --json', (name) => {
  const command = createProgram().commands.find((other) => other.name() === name);
  const flags = command?.options.map(({ flags: written }) => written).join(' ');
  for (const flag of ['--connection', '--config', '--json']) expect(flags).toContain(flag);
});

test.each([
  ['doctor', 'check'],
  ['test', 'check'],
  ['serve', 'worker'],
  ['rollback', 'undo'],
  ['synch', 'sync'],
  ['match', 'conflicts'],
  ['runs', 'status'],
  ['export-state', 'backup'],
])('"leadsync %s" is no command; it says: did you mean %s?', async (name, meant) => {
  await expect(parsed([name])).rejects.toMatchObject({
    code: 'commander.unknownCommand',
    message: `error: unknown command '${name}'\n(Did you mean ${meant}?)`,
  });
});

test('a name that is like no command gets no guess', async () => {
  await expect(parsed(['nonsense'])).rejects.toThrow(/^error: unknown command 'nonsense'$/);
});
