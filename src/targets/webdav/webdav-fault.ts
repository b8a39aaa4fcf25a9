import { type FaultRow, faultRow, type FaultTable } from '../../http/fault-table.ts';
import type { HttpFault } from '../../http/exchange.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { whyNoConnection } from '../../http/no-connection.ts';
import { docsPath } from '../../lib/version.ts';

export interface DavRefusal {
  /** The address of the file. */
  readonly name: string;
  readonly status: number;
  readonly isWrite: boolean;
  readonly login: 'password' | 'token' | null;
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

const unchanged = 'The file is unchanged.';
const untouched = 'Nothing was read or written.';
const again = 'A worker tries again by itself.';
const howToLogIn = (): string =>
  `Set WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target), or WEBDAV_TOKEN (${docsPath('webdav.md')}).`;

function mayNot(code: string, { status, login, isWrite }: DavRefusal): FaultRow {
  const [verb, effect] = isWrite ? ['write', unchanged] : ['read', untouched];
  const who = login === null ? `anybody ${verb} without logging in` : `this user ${verb}`;
  const rights = 'Give this user the right to change the file and to create files in its folder.';
  const help = login === null ? howToLogIn() : rights;
  return [code, `: the server does not let ${who} (${status}). ${effect}`, help];
}

function loginRefused(login: DavRefusal['login']): readonly [says: string, help: string] {
  switch (login) {
    case null:
      return ['lets nobody read without logging in', howToLogIn()];
    case 'password':
      return [
        'rejects the user name or the password',
        `Check WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target). Many servers want an app password (${docsPath('webdav.md')}).`,
      ];
    case 'token':
      return ['rejects the token', 'Check WEBDAV_TOKEN (accessToken of the target): it may have expired.'];
    default:
      return login satisfies never;
  }
}

/** What is said continues the address of the file. */
const faults: FaultTable<DavRefusal> = {
  '401': (refusal) => {
    if (refusal.isWrite) return mayNot('target.unauthenticated', refusal);
    const [says, help] = loginRefused(refusal.login);
    return ['target.unauthenticated', `: the server ${says} (401). ${untouched}`, help];
  },
  '403': (refusal) => mayNot('target.forbidden', refusal),
  '404 409 410': ({ status }) => [
    'target.not-writable',
    ` cannot be stored: its folder does not exist on the server (${status}). Nothing was written.`,
    'Create the folder, or correct the path of the target.',
  ],
  '405 501': ({ status }) => [
    'target.refused',
    ` does not lie on a WebDAV server: it refused the method (${status}). ${unchanged}`,
    `Set the path to the WebDAV address of the file, not to the page that shows it (${docsPath('webdav.md')}).`,
  ],
  '413': [
    'target.too-large',
    ` is larger than the server takes (413). ${unchanged}`,
    'Raise the limit for uploads on the server.',
  ],
  '423': [
    'target.busy',
    ` is locked by somebody (423). ${unchanged}`,
    `Save and close it in the program that has it open. ${again}`,
    'later',
  ],
  '429 503': ({ status }) => [
    'target.rate-limited',
    `: the server accepts no requests for now (${status}). ${unchanged}`,
    again,
    'later',
  ],
  '507': [
    'target.disk-full',
    ` cannot be stored: there is no room on the server (507). ${unchanged}`,
    'Make room in that account; the next run writes what is left.',
    'later',
  ],
  '3xx': ({ status, location }) => [
    'target.bad-url',
    ` leads elsewhere${location === null ? '' : `, to ${location}`} (${status}), where leadsync does not follow: to another host, or to what is no table. ${untouched}`,
    `Set the path to the WebDAV address of the file itself. When this is a page to log in, the server wants another kind of login, such as an app password (${docsPath('webdav.md')}).`,
  ],
  '5xx': ({ status }) => ['target.unavailable', `: the server failed (${status}).`, again, 'later'],
  other: ({ status }) => [
    'target.refused',
    `: the server refused a request (${status}). ${unchanged}`,
    `Check that the path is the WebDAV address of the file (${docsPath('webdav.md')}).`,
  ],
};

export function isFolder(name: string): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} is a folder. Nothing was read or written.`, {
    help: 'Add the name of the file to the path of the target.',
  });
}

/** The fault of a reply, by its status alone. */
export function refused(refusal: DavRefusal): LeadsyncError {
  const { name, location, waitMs } = refusal;
  if (location === `${name}/`) return isFolder(name);
  const [code, says, options] = faultRow(faults, refusal);
  return new LeadsyncError(code, name + says, {
    ...options,
    ...(waitMs !== null && { retryAfterMs: waitMs }),
  });
}
