import { LeadsyncError } from '../lib/errors.ts';

/** One wrong setting. Nothing in it is a secret: such values are shown as `[secret]`. */
export interface Mistake {
  /** The environment variable's name, or the file as it should be shown. */
  readonly where: string;
  /** 1-based line of the file. */
  readonly line?: number;
  /** The setting's place in the file, such as `connections.berlin.sync.schedule`; empty for a variable or the whole file. */
  readonly path: string;
  readonly found?: string;
  readonly message: string;
}

/** `message` is the list for people. */
export class ConfigError extends LeadsyncError {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
    super('config.invalid', `The configuration has ${count}:\n${mistakes.map(describeMistake).join('\n')}`, {
      help: 'Nothing was started, read or written. leadsync.example.yaml and docs/settings.md explain each setting.',
    });
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

function describeMistake({ where, line, path, found, message }: Mistake): string {
  const place = `${where}${line === undefined ? '' : `:${line}`}${path === '' ? '' : ` ${path}`}`;
  return `  ${place}: ${message}${found === undefined ? '' : ` (found ${found})`}`;
}
