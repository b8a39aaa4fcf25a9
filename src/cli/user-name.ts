import { userInfo } from 'node:os';

/** Who uses the command line, as the system calls them; a user without a name, as in some containers, has a number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}
