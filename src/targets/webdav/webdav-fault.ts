import type { HttpFault } from '../../http/exchange.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { whyNoConnection } from '../../http/no-connection.ts';
import { docsPath } from '../../lib/version.ts';

export interface DavRefusal {
  readonly status: number;
  readonly isWrite: boolean;
  readonly hasLogin: boolean;
  /** What the server asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
  /** Where a redirect leads, without a query; null: nowhere. */
  readonly location: string | null;
}

/** A request without a complete reply; it may have been carried out. `name`: the address of the file. */
export function lostReply(fault: HttpFault, name: string): LeadsyncError {
  if (fault.kind === 'too-large')
    return new LeadsyncError('target.too-large', `${name} is larger than leadsync reads: ${fault.message}.`, {
      help: 'Move what is not the table to a file of its own.',
    });
  const none = whyNoConnection(fault);
  const says = none
    ? `No connection to the server of ${name}: ${none.says}. Nothing was sent.`
    : `The server of ${name} gave no complete answer: ${fault.message}.`;
  const help = none?.help ?? 'Check whether the server is running. A worker tries again by itself.';
  return new LeadsyncError('target.unavailable', says, { retry: 'later', help });
}

interface Words {
  readonly code: string;
  /** Continues the address. */
  readonly says: string;
  readonly help: string;
  readonly retry?: 'later';
}

const unchanged = 'The file is unchanged.';
const untouched = 'Nothing was read or written.';
const howToLogIn = (): string =>
  `Set WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target; ${docsPath('webdav.md')}).`;
const howToCorrect = (): string =>
  `Check WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target). Many servers want an app password (${docsPath('webdav.md')}).`;
const readWrite = 'Give this user the right to change the file and to create files in its folder.';

/** A reader whom the server lets read, but not write. */
function mayNotWrite({ status, hasLogin }: DavRefusal): Words {
  return {
    code: status === 401 ? 'target.unauthenticated' : 'target.forbidden',
    says: `: the server does not let ${hasLogin ? 'this user write' : 'anybody write without logging in'} (${status}). ${unchanged}`,
    help: hasLogin ? readWrite : howToLogIn(),
  };
}

function wordsOf(refusal: DavRefusal): Words {
  const { status, isWrite, location, hasLogin } = refusal;
  switch (status) {
    case 401: {
      if (isWrite) return mayNotWrite(refusal);
      const [says, help] = hasLogin
        ? ['rejects the user name or the password', howToCorrect()]
        : ['lets nobody read without logging in', howToLogIn()];
      return { code: 'target.unauthenticated', says: `: the server ${says} (401). ${untouched}`, help };
    }
    case 403:
      if (isWrite) return mayNotWrite(refusal);
      return {
        code: 'target.forbidden',
        says: `: the server does not let ${hasLogin ? 'this user read' : 'anybody read without logging in'} (403). ${untouched}`,
        help: hasLogin ? readWrite : howToLogIn(),
      };
    case 404:
    case 409:
    case 410:
      return {
        code: 'target.not-writable',
        says: ` cannot be stored: its folder does not exist on the server (${status}). Nothing was written.`,
        help: 'Create the folder, or correct the path of the target.',
      };
    case 405:
    case 501:
      return {
        code: 'target.refused',
        says: ` does not lie on a WebDAV server: it refused the method (${status}). ${unchanged}`,
        help: `Set the path to the WebDAV address of the file, not to the page that shows it (${docsPath('webdav.md')}).`,
      };
    case 413:
      return {
        code: 'target.too-large',
        says: ` is larger than the server takes (413). ${unchanged}`,
        help: 'Raise the limit for uploads on the server.',
      };
    case 423:
      return {
        code: 'target.busy',
        says: ` is locked by somebody (423). ${unchanged}`,
        help: 'Save and close it in the program that has it open. A worker tries again by itself.',
        retry: 'later',
      };
    case 429:
    case 503:
      return {
        code: 'target.rate-limited',
        says: `: the server accepts no requests for now (${status}). ${unchanged}`,
        help: 'A worker tries again by itself.',
        retry: 'later',
      };
    case 507:
      return {
        code: 'target.disk-full',
        says: ` cannot be stored: there is no room on the server (507). ${unchanged}`,
        help: 'Make room in that account; the next run writes what is left.',
        retry: 'later',
      };
    default:
      if (status >= 500)
        return {
          code: 'target.unavailable',
          says: `: the server failed (${status}).`,
          help: 'A worker tries again by itself.',
          retry: 'later',
        };
      if (status >= 300 && status < 400)
        return {
          code: 'target.bad-url',
          says: ` leads elsewhere${location === null ? '' : `, to ${location}`} (${status}), where leadsync does not follow: to another host, or to what is no table. ${untouched}`,
          help: `Set the path to the WebDAV address of the file itself. When this is a page to log in, the server wants another kind of login, such as an app password (${docsPath('webdav.md')}).`,
        };
      return {
        code: 'target.refused',
        says: `: the server refused a request (${status}). ${unchanged}`,
        help: `Check that the path is the WebDAV address of the file (${docsPath('webdav.md')}).`,
      };
  }
}

export function isFolder(name: string): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} is a folder. Nothing was read or written.`, {
    help: 'Add the name of the file to the path of the target.',
  });
}

/** The fault of a reply, by its status alone. `name`: the address of the file. */
export function refused(refusal: DavRefusal, name: string): LeadsyncError {
  if (refusal.location === `${name}/`) return isFolder(name);
  const { code, says, help, retry } = wordsOf(refusal);
  return new LeadsyncError(code, `${name}${says}`, {
    help,
    ...(retry && { retry }),
    ...(refusal.waitMs !== null && { retryAfterMs: refusal.waitMs }),
  });
}
