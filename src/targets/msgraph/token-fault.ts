import { LeadsyncError, type LeadsyncErrorOptions } from '../../lib/errors.ts';

/** Microsoft Entra's answer to a request for a token that brought none; null: there was no complete answer. */
export interface TokenRefusal {
  readonly status: number;
  /** Numbers of its errors (AADSTS…). */
  readonly codes: readonly number[];
  /** What it asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
}

const page = 'in Entra: App registrations, your app';
const noSuchTenant =
  'Set it to the Directory (tenant) ID that the overview of your app shows in Entra, or to its domain.';
const newSecret = `Make a new one ${page}, Certificates & secrets, and set it to the value, not to the id.`;
const upload = `Upload the certificate ${page}, Certificates & secrets, Certificates.`;

/** What is wrong, and what helps, by Entra's own number of the error. */
const meanings: Readonly<Record<number, readonly [what: string, help: string]>> = {
  90002: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  900021: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  900023: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  700016: [
    'the directory has no app with this MSGRAPH_CLIENT_ID',
    `Set it to the Application (client) ID ${page}, and check MSGRAPH_TENANT.`,
  ],
  700038: ['MSGRAPH_CLIENT_ID is not the id of an app', `Set it to the Application (client) ID ${page}.`],
  7000215: ['MSGRAPH_CLIENT_SECRET is wrong', newSecret],
  7000222: ['MSGRAPH_CLIENT_SECRET has expired', newSecret],
  700027: ['the app does not have the certificate in MSGRAPH_CLIENT_SECRET', upload],
  7000274: ['the app does not have the certificate in MSGRAPH_CLIENT_SECRET', upload],
  1000502: ['the certificate in MSGRAPH_CLIENT_SECRET is not valid today', `Make a new one. ${upload}`],
  7000214: ['the certificate in MSGRAPH_CLIENT_SECRET was revoked', `Make a new one. ${upload}`],
  700024: [
    'the clock of this machine is wrong',
    'Set the clock; a signature with the certificate holds for minutes.',
  ],
  7000229: ['the app is not installed in this directory', `Grant admin consent ${page}, API permissions.`],
  7000112: [
    'the app is disabled in this directory',
    'Enable it in Entra: Enterprise applications, your app, Properties.',
  ],
  53003: [
    'a Conditional Access policy keeps the app out',
    'Ask the administrator to exclude the app, or this machine, from that policy.',
  ],
};

/** `target.unauthenticated` (never) for a wrong setting, else `target.unavailable` (later). Entra's text is left out: it may repeat what was sent. */
export function tokenFault(refusal: TokenRefusal | null, reason: string): LeadsyncError {
  const nothing = 'Nothing was read or written.';
  if (refusal === null || refusal.status >= 500 || refusal.status === 429) {
    const how = refusal === null ? `cannot be reached (${reason})` : `gives no token now (${refusal.status})`;
    const options: LeadsyncErrorOptions = {
      retry: 'later',
      help: 'Check the network and MSGRAPH_LOGIN_URL. A worker tries again by itself.',
      ...(typeof refusal?.waitMs === 'number' && { retryAfterMs: refusal.waitMs }),
    };
    return new LeadsyncError('target.unavailable', `Microsoft Entra ${how}. ${nothing}`, options);
  }
  const code = refusal.codes.find((one) => meanings[one] !== undefined) ?? refusal.codes[0];
  const [what, help] = meanings[code ?? 0] ?? [
    'the settings of the app',
    'https://login.microsoftonline.com/error explains the number.',
  ];
  const number = code === undefined ? String(refusal.status) : `AADSTS${code}`;
  const message = `Microsoft Entra refused the app: ${what} (${number}). ${nothing}`;
  return new LeadsyncError('target.unauthenticated', message, { help });
}
