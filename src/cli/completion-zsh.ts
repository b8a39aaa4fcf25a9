import { type CompletedCommand, type Follows, listConnections } from './completion-commands.ts';

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
