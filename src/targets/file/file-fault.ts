import { LeadsyncError } from '../../errors.ts';

const noSpace = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const noPermission = new Set(['EACCES', 'EPERM', 'EROFS']);
const noPath = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Whether this is an operating system error with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  );
}

/** The error for a truncated file; `what` names the file and where it ends. */
export function incompleteFile(what: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'target.incomplete',
    `${what}: it is still being written, or truncated. Nothing was read or written.`,
    {
      retry: 'later',
      help: 'Save it again from the program that wrote it, or restore an older version; then run leadsync sync.',
      cause,
    },
  );
}

/** Translates a system error of writing or replacing a file; other errors pass. */
export function writeFault(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  if (noSpace.has(code)) {
    return new LeadsyncError(
      'target.disk-full',
      `No space to write ${path} (${code}). The file is unchanged.`,
      {
        retry: 'later',
        help: 'Free some space on that disk; the next run writes what is left.',
        cause: error,
      },
    );
  }
  if (noPermission.has(code)) {
    return new LeadsyncError(
      'target.not-writable',
      `${path} is not writable (${code}). The file is unchanged.`,
      {
        help: 'Give the user that runs leadsync write permission on the file and on its folder.',
        cause: error,
      },
    );
  }
  if (noPath.has(code)) {
    return new LeadsyncError(
      'target.not-writable',
      `${path} cannot be written: its folder does not exist (${code}).`,
      {
        help: 'Create the folder, or correct the path of the target.',
        cause: error,
      },
    );
  }
  return otherFault(error, code, path);
}

/** Translates a system error of reading a file; other errors pass. */
export function readFault(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  if (noPermission.has(code)) {
    return new LeadsyncError('target.unreadable', `${path} is not readable (${code}).`, {
      help: 'Give the user that runs leadsync read permission on the file and on its folder.',
      cause: error,
    });
  }
  return otherFault(error, code, path);
}

function otherFault(error: unknown, code: string, path: string): LeadsyncError {
  if (code === 'EBUSY' || code === 'ETXTBSY') {
    return new LeadsyncError(
      'target.busy',
      `Another program holds ${path} (${code}). The file is unchanged.`,
      {
        retry: 'later',
        help: 'Close the program that has it open.',
        cause: error,
      },
    );
  }
  return new LeadsyncError('target.io', `System error for ${path} (${code}).`, {
    retry: 'later',
    help: 'Check the disk or network share that holds the file.',
    cause: error,
  });
}

function systemCode(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}
