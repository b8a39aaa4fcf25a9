import { type CompletedCommand, type Follows, listConnections } from './completion-commands.ts';

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
