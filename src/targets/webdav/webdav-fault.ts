import type { HttpFault } from '../../http/exchange.ts';
import { codeOf, LeadsyncError } from '../../errors.ts';

/** A reply that is no answer. */
export interface DavRefusal {
  readonly status: number;
  /** Whether the request was to change something. */
  readonly isWrite: boolean;
  /** What the server asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
  /** Where a redirect leads, without a query; null: nowhere. */
  readonly location: string | null;
}

const tlsCode =
  /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH)/;

/** A request without a complete reply; it may have been carried out. `name`: the address of the file. */
export function lostReply(fault: HttpFault, name: string): LeadsyncError {
  if (fault.kind === 'too-large')
    return new LeadsyncError('target.too-large', `${name} is larger than leadsync reads: ${fault.message}.`, {
      help: 'Move what is not the table to a file of its own.',
    });
  if (tlsCode.test(codeOf(fault.cause) ?? ''))
    return new LeadsyncError('target.unavailable', `No encrypted connection for ${name}: ${fault.message}.`, {
      retry: 'later',
      help: 'Address the server by a name in its certificate; for a private CA set NODE_EXTRA_CA_CERTS to its file.',
    });
  return new LeadsyncError(
    'target.unavailable',
    `The server of ${name} gave no complete answer: ${fault.message}.`,
    {
      retry: 'later',
      help: 'Check the address, and whether the server is running. leadsync tries again.',
    },
  );
}

interface Words {
  readonly code: string;
  /** Continues the address. */
  readonly says: string;
  readonly help: string;
  readonly retry?: 'later';
}

const unchanged = 'The file is unchanged.';

function wordsOf({ status, isWrite, location }: DavRefusal): Words {
  switch (status) {
    case 401:
      return {
        code: 'target.unauthenticated',
        says: isWrite
          ? `: the server does not let this user write (401). ${unchanged}`
          : ': the server rejected the user name or the password (401).',
        help: isWrite
          ? 'Give this user the right to change the file and its folder.'
          : 'Check WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target). Many servers want an app password (docs/webdav.md).',
      };
    case 403:
      return {
        code: 'target.forbidden',
        says: `: the server does not let this user ${isWrite ? 'write' : 'read'} (403). ${unchanged}`,
        help: isWrite
          ? 'Give this user the right to change the file and to create files in its folder.'
          : 'Share the file with this user so that it may read and write.',
      };
    case 404:
    case 409:
    case 410:
      return {
        code: 'target.not-writable',
        says: ` cannot be stored: its folder does not exist on the server (${status}).`,
        help: 'Create the folder, or correct the path of the target.',
      };
    case 405:
    case 501:
      return {
        code: 'target.refused',
        says: ` does not lie on a WebDAV server: it refused the method (${status}). ${unchanged}`,
        help: 'Set the path to the WebDAV address of the file, not to the page that shows it (docs/webdav.md).',
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
        help: 'Save and close it in the program that has it open; leadsync tries again.',
        retry: 'later',
      };
    case 429:
    case 503:
      return {
        code: 'target.rate-limited',
        says: `: the server accepts no requests for now (${status}). ${unchanged}`,
        help: 'leadsync tries again.',
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
          help: 'leadsync tries again.',
          retry: 'later',
        };
      if (status >= 300 && status < 400)
        return {
          code: 'target.bad-url',
          says: ` leads to another address${location === null ? '' : `, ${location}`} (${status}): leadsync does not follow to another host with the password.`,
          help: 'Set the path to the address of the file itself.',
        };
      return {
        code: 'target.refused',
        says: `: the server refused a request (${status}). ${unchanged}`,
        help: 'Run leadsync check.',
      };
  }
}

/** The fault of a reply, by its status alone. `name`: the address of the file. */
export function refused(refusal: DavRefusal, name: string): LeadsyncError {
  const { code, says, help, retry } = wordsOf(refusal);
  return new LeadsyncError(code, `${name}${says}`, {
    help,
    ...(retry && { retry }),
    ...(refusal.waitMs !== null && { retryAfterMs: refusal.waitMs }),
  });
}
