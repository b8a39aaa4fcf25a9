import type { Command } from 'commander';
import { bashScript } from './completion-bash.ts';
import { completedCommands } from './completion-commands.ts';
import { fishScript } from './completion-fish.ts';
import { zshScript } from './completion-zsh.ts';
import { print } from './output.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `leadsync completion SHELL`: prints a script that completes all commands without starting leadsync. */
export async function completion(
  shell: keyof typeof scripts,
  _options: object,
  { parent }: Command,
): Promise<void> {
  print(scripts[shell](parent === null ? [] : completedCommands(parent)));
}
