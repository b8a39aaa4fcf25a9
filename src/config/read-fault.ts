const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
};

/** Why a file could not be read, as the end of a sentence. */
export function readFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return sentences[code] ?? code;
}
