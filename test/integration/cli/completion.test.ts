import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bashScript, fishScript, zshScript } from '../../../src/cli/completion.ts';
import { completedCommands } from '../../../src/cli/completion-commands.ts';
import { createProgram } from '../../../src/cli/program.ts';

const run = promisify(execFile);
const commands = completedCommands(createProgram());
const config = 'connections:\n  berlin:\n    target: { path: x.csv }\n  wien-2: {}\nalerts:\n  email: []\n';
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-completion-'));
  writeFileSync(join(folder, 'leadsync.yaml'), config);
  writeFileSync(join(folder, 'bash'), bashScript(commands));
  writeFileSync(join(folder, 'zsh'), zshScript(commands));
  writeFileSync(join(folder, 'fish'), fishScript(commands));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What a shell offers for a line whose last word is not ended. */
type Offers = (line: string) => Promise<string[]>;
const sorted = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();

const bash: Offers = async (line) => {
  // As bash itself splits: = is a word.
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const script = `source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leadsync; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['--noprofile', '--norc', '-c', script, 'bash', ...words], {
    cwd: folder,
  });
  return sorted(stdout);
};

const fish: Offers = async (line) => {
  const home = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder };
  const script = 'source ./fish; complete -C $argv[1] | string split -f1 \\t; true';
  const { stdout } = await run('fish', ['--no-config', '-c', script, line], { cwd: folder, env: home });
  return sorted(stdout).map((offer) => offer.replace(/^--[\w-]+=/, ''));
};

const cases: readonly [line: string, offers: readonly string[]][] = [
  ['leadsync re', ['reminders', 'resolve', 'restore', 'resume']],
  ['leadsync sync --older-copy ', ['update']],
  ['leadsync sync --allow older-', ['older-copy', 'older-service', 'older-state']],
  ['leadsync resolve --use=l', ['lead']],
  ['leadsync undo --', ['--config', '--connection', '--help', '--json', '--out', '--yes']],
  ['leadsync plan --connection ', ['berlin', 'wien-2']],
  ['leadsync completion ', ['bash', 'fish', 'zsh']],
  // What is typed is not run.
  ['leadsync why $(touch ran)', []],
];

for (const [shell, offers] of [
  ['bash', bash],
  ['fish', fish],
] as const)
  describe(`${shell}:`, { tags: shell }, () => {
    test.each(cases)('%s', async (line, expected) => {
      expect(await offers(line)).toEqual(expected);
      expect(existsSync(join(folder, 'ran'))).toBe(false);
    });
  });

/** By the tab key in a terminal, which zsh cannot do without; bound to completion alone, as zsh by itself expands what is typed. */
test('zsh', { tags: 'zsh' }, async () => {
  const lines: Readonly<Record<string, string>> = {
    'leadsync resu': 'leadsync resume ',
    'leadsync sync --older-copy ': 'leadsync sync --older-copy update ',
    'leadsync sync --allow older-co': 'leadsync sync --allow older-copy ',
    'leadsync resolve --use=l': 'leadsync resolve --use=lead ',
    'leadsync undo --ye': 'leadsync undo --yes ',
    'leadsync plan --connection wi': 'leadsync plan --connection wien-2 ',
    'leadsync apply leadsync.y': 'leadsync apply leadsync.yaml ',
    'leadsync completion f': 'leadsync completion fish ',
    'leadsync why $(touch ran)': 'leadsync why $(touch ran)',
  };
  const script = `zmodload zsh/zpty; zpty z 'zsh -f -i'
    zpty -w z 'autoload -U compinit; compinit -u -D; source ./zsh; keep() { print -r -- "$BUFFER|" >>kept }'
    zpty -w z 'zle -N keep; bindkey "^G" keep; bindkey "^U" kill-whole-line; bindkey "^I" complete-word; PS1=; print READY$((1+1))'
    zpty -r -m z seen '*READY2*'; for line in "$@"; do zpty -n -w z "$line"$'\\t\\C-g\\C-u'; done
    zpty -w z 'print DONE$((1+1))'; zpty -r -m z seen '*DONE2*'; zpty -d z`;
  await run('zsh', ['-f', '-c', script, 'zsh', ...Object.keys(lines)], { cwd: folder });
  expect(readFileSync(join(folder, 'kept'), 'utf8').split('\n').slice(0, -1)).toEqual(
    Object.values(lines).map((line) => `${line}|`),
  );
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('each command and option is in each script', () => {
  const flags = commands.flatMap(({ name, options }) => [name, ...options.map(({ flag }) => flag.slice(2))]);
  for (const script of [bashScript(commands), zshScript(commands), fishScript(commands)])
    expect(flags.filter((flag) => !script.includes(flag))).toEqual([]);
  expect(commands.length).toBeGreaterThan(20);
});
