import { LeadsyncError } from '../../lib/errors.ts';

export interface Editor {
  readonly lockFile: string;
  /** As the lock file tells; empty: it does not. */
  readonly user: string;
}

/** The lock files that spreadsheet programs put beside an open file: LibreOffice's and Excel's. */
export const editorLocks: readonly {
  readonly nameFor: (file: string) => string;
  /** @param content its first KiB */
  readonly userOf: (content: Buffer) => string;
}[] = [
  {
    nameFor: (file) => `.~lock.${file}#`,
    /** `Full name,login,host,date,profile;`, the first part empty when the program has no name. */
    userOf(content) {
      const [fullName = '', login = '', host = ''] = content.toString('utf8').split(',');
      const user = fullName.trim() === '' ? login : fullName;
      return printable(host === '' ? user : `${user} on ${host}`);
    },
  },
  {
    nameFor: (file) => `~$${file}`,
    /** One byte of length, then the name. */
    userOf(content) {
      const length = content[0] ?? 0;
      return printable(content.toString('latin1', 1, 1 + Math.min(length, 54)));
    },
  },
];

export function openInEditor(name: string, { lockFile, user }: Editor): LeadsyncError {
  const who = user === '' ? '' : ` (${user})`;
  const message = `${name} is open in a spreadsheet program${who}. Nothing was written.`;
  return new LeadsyncError('target.busy', message, {
    retry: 'later',
    help: `Save and close it. If nobody has it open, the program crashed: delete ${lockFile}.`,
  });
}

function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '').trim();
}
