import { codeOf, LeadsyncError, type LeadsyncErrorOptions } from '../../lib/errors.ts';

const noSpace = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const noPermission = new Set(['EACCES', 'EPERM', 'EROFS']);
const noPath = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error) ?? '');
}

/** The error for a truncated file; `what` names the file and where it ends. */
export function incompleteFile(what: string, cause?: unknown): LeadsyncError {
  const message = `${what}: it is still being written, or truncated. Nothing was read or written.`;
  return new LeadsyncError('target.incomplete', message, {
    retry: 'later',
    help: 'Save it again from the program that wrote it, or restore an older version; then run leadsync sync.',
    cause,
  });
}

/** Translates a system error of writing or replacing a file; other errors pass. */
export function writeFault(error: unknown, path: string): unknown {
  return translated(error, (code) => {
    if (noSpace.has(code))
      return {
        code: 'target.disk-full',
        message: `No space to write ${path} (${code}). The file is unchanged.`,
        help: 'Free some space on that disk; the next run writes what is left.',
        retry: 'later',
      };
    if (noPermission.has(code))
      return {
        code: 'target.not-writable',
        message: `${path} is not writable (${code}). The file is unchanged.`,
        help: 'Give the user that runs leadsync write permission on the file and on its folder.',
      };
    if (noPath.has(code))
      return {
        code: 'target.not-writable',
        message: `${path} cannot be written: its folder does not exist (${code}).`,
        help: 'Create the folder, or correct the path of the target.',
      };
    return otherFault(code, path);
  });
}

/** Translates a system error of reading a file; other errors pass. */
export function readFault(error: unknown, path: string): unknown {
  return translated(error, (code) =>
    noPermission.has(code)
      ? {
          code: 'target.unreadable',
          message: `${path} is not readable (${code}).`,
          help: 'Give the user that runs leadsync read permission on the file and on its folder.',
        }
      : otherFault(code, path),
  );
}

type Fault = Pick<LeadsyncError, 'code' | 'message'> & LeadsyncErrorOptions;

function otherFault(code: string, path: string): Fault {
  if (code === 'EBUSY' || code === 'ETXTBSY')
    return {
      code: 'target.busy',
      message: `Another program has ${path} open (${code}). The file is unchanged.`,
      help: 'Close that program.',
      retry: 'later',
    };
  return {
    code: 'target.io',
    message: `System error for ${path} (${code}).`,
    help: 'Check the disk or network share that holds the file.',
    retry: 'later',
  };
}

function translated(error: unknown, faultOf: (code: string) => Fault): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  const { code, message, ...options } = faultOf(String(error.code));
  return new LeadsyncError(code, message, { ...options, cause: error });
}
