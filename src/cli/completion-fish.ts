import { type CompletedCommand, type Follows, listConnections } from './completion-commands.ts';

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
