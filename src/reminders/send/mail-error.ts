import { faultText, LeadsyncError, withoutStop } from '../../lib/errors.ts';
import type { Redactor } from '../../lib/redact.ts';

interface Fault {
  /** Its own class, such as `EAUTH`, `EDNS`, `ETLS`. */
  readonly code: string;
  /** The code of the system or of TLS below it, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`; may be empty. */
  readonly originalCode: string;
  /** The reply's number, 400 to 599; null: no reply. */
  readonly reply: number | null;
  /** The reply's enhanced status (RFC 3463), such as `5.7.1`; may be empty. */
  readonly status: string;
  /** The failed command: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`. */
  readonly command: string;
}

/**
 * The fault of a mailer, by nodemailer's `code`, the reply's number and its enhanced status, never by its words.
 *
 * | code | retry | when |
 * |---|---|---|
 * | mail.refused | never | 5xx for this recipient or this mail |
 * | mail.deferred | later | 4xx for this recipient or this mail: greylisting, a full mailbox |
 * | mail.unavailable | later | no server, no TLS, 421, any fault before the first byte of the mail: certainly not sent |
 * | mail.outcome-unknown | later | the connection ended or went silent after the first byte of the mail had left |
 * | mail.credentials | later | user or password are wrong or missing: no mail can be sent |
 * | mail.sender-refused | later | the server does not serve us, or not this sender: no mail of it can be sent |
 * | mail.policy-refused | later | 5.7.x for this recipient: it may concern the recipient alone, or all mails of ours |
 *
 * `begun`: whether a byte of the mail itself has left. What `redactor` knows is removed from the server's words.
 */
export function mailError(error: unknown, begun: boolean, redactor: Redactor): LeadsyncError {
  const said = faultText(error);
  const words = withoutStop(shortened(redactor.text(said)));
  const [code, what, help] = meaningOf(faultOf(error), begun);
  const retry = code === 'mail.refused' ? 'never' : 'later';
  return new LeadsyncError(code, `${what}: ${words}`, { retry, ...(help !== undefined && { help }) });
}

/** OpenSSL's codes, as Node passes them on, of a certificate by an authority that Node does not know. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const certificateHelp: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Renew the certificate of the mail server',
  CERT_NOT_YET_VALID: 'Check the clocks of this machine and of the mail server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Set the host in SMTP_URL to a name that the certificate is made for',
};

type Meaning = readonly [code: string, what: string, help?: string];

function meaningOf(fault: Fault, begun: boolean): Meaning {
  const { reply, code, command } = fault;
  const unavailable: Meaning = ['mail.unavailable', 'the mail could not be sent'];
  if (reply === null && begun)
    return [
      'mail.outcome-unknown',
      'the connection ended before the mail server confirmed the mail, which may have arrived or not',
    ];
  if (isCredentials(fault))
    return [
      'mail.credentials',
      'the mail server rejected the login',
      'Set user and password in SMTP_URL: smtp://user:password@host:587, special characters as %40 and the like',
    ];
  const help = unknownAuthority.has(fault.originalCode)
    ? 'Set NODE_EXTRA_CA_CERTS to the path of a file (PEM) with the certificate of the authority, and start again'
    : certificateHelp[fault.originalCode];
  if (help !== undefined)
    return ['mail.unavailable', 'the certificate of the mail server cannot be trusted', help];
  if (code === 'ETLS')
    return [
      'mail.unavailable',
      'no encrypted connection to the mail server',
      'For a server without STARTTLS add ?requireTLS=false to SMTP_URL; for one with a private CA set NODE_EXTRA_CA_CERTS',
    ];
  if (reply === null) return isOurs(code) ? ['mail.refused', 'the mail cannot be sent'] : unavailable;
  if (reply === 421) return unavailable;
  if (reply < 500)
    return ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command)
      ? ['mail.deferred', 'the mail server does not accept the mail yet']
      : unavailable;
  if (isPolicy(fault))
    return [
      'mail.policy-refused',
      'the mail server refused the recipient by policy',
      'Check that this server may send mail for the sender (reminders.from) to this recipient',
    ];
  if (isSender(fault))
    return [
      'mail.sender-refused',
      'the mail server does not send mails for this sender',
      'Check that this server may send mail for the sender (reminders.from), with the user of SMTP_URL',
    ];
  return ['mail.refused', 'the mail server refused the mail'];
}

function faultOf(error: unknown): Fault {
  const { code, originalCode, responseCode, response, command } = (error ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const said = typeof response === 'string' ? response : '';
  return {
    code: typeof code === 'string' ? code : '',
    originalCode: typeof originalCode === 'string' ? originalCode : '',
    reply: typeof responseCode === 'number' && responseCode >= 400 ? responseCode : null,
    status: /^\d{3}[ -]([45]\.\d{1,3}\.\d{1,3})\b/.exec(said)?.[1] ?? '',
    command: typeof command === 'string' ? command : '',
  };
}

/** 530 and 535: RFC 4954, section 6. A 4xx reply to AUTH is a fault of the server. */
function isCredentials({ code, reply, status }: Fault): boolean {
  if (reply === 421 || (reply !== null && reply < 500)) return false;
  return ['EAUTH', 'ENOAUTH'].includes(code) || [530, 534, 535].includes(reply ?? 0) || status === '5.7.8';
}

/** Faults of the mail or of our settings, which retries cannot fix. */
function isOurs(code: string): boolean {
  return ['EENVELOPE', 'EMESSAGE', 'EFILEACCESS', 'EURLACCESS', 'EMAXRECIPIENTS'].includes(code);
}

/** About permissions: policy at RCPT TO, and after DATA the sender checks (5.7.20 and above, RFC 7372). 5.7.0 is about the login. */
function isPolicy({ command, status }: Fault): boolean {
  const policy = Number(/^5\.7\.(\d+)$/.exec(status)?.[1] ?? 0);
  return command === 'DATA' ? policy >= 20 : command === 'RCPT TO' && policy > 0;
}

/** Whether a 5xx is about us: before any recipient, except a mail that is too large (x.3.4). */
function isSender({ command, status }: Fault): boolean {
  if (command === 'DATA') return false;
  if (command === 'RCPT TO') return status === '5.7.0';
  return !(command === 'MAIL FROM' && status === '5.3.4');
}

function shortened(words: string): string {
  return words
    .slice(0, 1000)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 500)
    .trim();
}
