import type { Command } from 'commander';
import {
  completedCommands,
  type CompletedCommand,
  type Follows,
  listConnections,
} from './completion-commands.ts';
import { printExactly } from './output.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `leadsync completion SHELL`: prints a script that completes all commands without starting leadsync. */
export async function completion(
  shell: keyof typeof scripts,
  _options: object,
  { parent }: Command,
): Promise<void> {
  printExactly(scripts[shell](parent === null ? [] : completedCommands(parent)));
}

/** For bash 3.2 and newer; needs no package bash-completion, and runs nothing of what is typed. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const words = (follows: Follows): string => {
    if (typeof follows === 'object') return `words='${follows.join(' ')}'`;
    if (follows === 'connections') return 'words=$(_leadsync_connections)';
    return follows === 'files' ? 'return' : ':';
  };
  const cases = commands.flatMap(({ name, options, argument }) => [
    ...options.flatMap(({ flag, value }) =>
      value === undefined ? [] : [`    '${name} ${flag}') ${words(value)} ;;`],
    ),
    `    '${name} '*)`,
    `      if [[ $cur == -* ]]; then words='${options.map(({ flag }) => flag).join(' ')}'`,
    `      else ${words(argument ?? 'anything')}; fi ;;`,
  ]);
  return `# leadsync for bash: eval "$(leadsync completion bash)"
_leadsync_connections() { ${listConnections}; }
_leadsync() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words=
  # --use=lead is three words.
  if [[ $cur == '=' ]]; then cur=
  elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  # Where nothing is set below, the name of a file is completed.
  if (( COMP_CWORD == 1 )); then words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else case "\${COMP_WORDS[1]} $prev" in
${cases.join('\n')}
    *) : ;;
  esac; fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
  if (( \${#COMPREPLY[@]} == 0 )); then compopt +o default 2>/dev/null; fi
}
complete -o default -F _leadsync leadsync`;
}

/** For zsh: to be sourced after compinit, or a file _leadsync in a folder of fpath. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const action = (follows: Follows): string => {
    if (typeof follows === 'object') return `(${follows.join(' ')})`;
    return { files: '_files', connections: '_leadsync_connections', anything: ' ' }[follows];
  };
  const cases = commands.map(({ name, options, argument }) => {
    const specs = options.map(({ flag, description, value, repeats }) => {
      const what = `${flag}${value === undefined ? '' : '='}[${description}]`;
      return `${repeats ? '*' : ''}${what}${value === undefined ? '' : `:value:${action(value)}`}`;
    });
    // A message in place of an argument would keep zsh from inserting the only option that fits.
    if (argument !== undefined && argument !== 'anything') specs.push(`1:argument:${action(argument)}`);
    return `    ${name}) _arguments -S ${specs.map((spec) => `'${spec}'`).join(' ')} ;;`;
  });
  return `#compdef leadsync
# leadsync for zsh: eval "$(leadsync completion zsh)" after compinit
_leadsync_connections() {
  local -a names
  names=(\${(f)"$(${listConnections})"})
  compadd -a names
}
_leadsync() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    '${name}:${description}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _leadsync ]]; then _leadsync "$@"; else compdef _leadsync leadsync; fi`;
}

/** For fish: to be sourced, or a file leadsync.fish in its folder of completions. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const value = (follows: Follows): string => {
    if (typeof follows === 'object') return `-x -a '${follows.join(' ')}'`;
    return { files: '-r -F', connections: "-x -a '(__leadsync_connections)'", anything: '-x' }[follows];
  };
  const lines = commands.flatMap(({ name, description, options, argument }) => {
    const own = `complete -c leadsync -n '__leadsync_is ${name}'`;
    return [
      `complete -c leadsync -n __leadsync_is -a ${name} -d '${description}'`,
      ...options.map(
        (option) =>
          `${own} -l ${option.flag.slice(2)} ${option.value === undefined ? '' : `${value(option.value)} `}-d '${option.description}'`,
      ),
      ...(argument === undefined || argument === 'anything'
        ? []
        : [`${own} ${value(argument).replace(/^-[xr] /, '')}`]),
    ];
  });
  return `# leadsync for fish: leadsync completion fish | source
# Whether this command is typed; without one: whether none is typed yet.
function __leadsync_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
function __leadsync_connections
    sh -c '${listConnections.replaceAll("'", String.raw`'\''`)}'
end
complete -c leadsync -f
${lines.join('\n')}`;
}
