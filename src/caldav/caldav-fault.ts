import type { HttpFault } from '../http/exchange.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { whyNoConnection } from '../http/no-connection.ts';
import { docsPath } from '../lib/version.ts';

export interface Refusal {
  readonly status: number;
  /** What the server asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
  /** Where a redirect points to. */
  readonly location: string | null;
  /** The ways to log in that the server offers, as it names them. */
  readonly offers: string;
}

/** A request without a complete reply: `caldav.unreachable`, or `caldav.tls` when no encrypted connection came about. */
export function lostReply(fault: HttpFault, place: string): LeadsyncError {
  if (fault.kind === 'too-large')
    return new LeadsyncError('caldav.unreadable', `${place} sent ${fault.message}: leadsync reads no more.`, {
      retry: 'later',
      help: 'Use a calendar of its own for follow-ups.',
    });
  const none = whyNoConnection(fault);
  const says = none
    ? `No connection to ${place}: ${none.says}.`
    : `${place} gave no complete answer: ${fault.message}.`;
  return new LeadsyncError(none?.isTls === true ? 'caldav.tls' : 'caldav.unreachable', says, {
    retry: 'later',
    help: none?.help ?? 'Check url, and whether the server is running. A worker tries again by itself.',
  });
}

/** The fault of a reply, by its status alone. `place`: host and path of the calendar. */
export function refused({ status, waitMs, location, offers }: Refusal, place: string): LeadsyncError {
  const later = (code: string, message: string, help: string): LeadsyncError =>
    new LeadsyncError(code, message, {
      retry: 'later',
      help,
      ...(waitMs !== null && { retryAfterMs: waitMs }),
    });
  if (status === 401) {
    const others = /\bbasic\b/i.test(offers) || offers === '' ? '' : ` It offers ${offers}, not Basic.`;
    return later(
      'caldav.unauthenticated',
      `${place} rejected the user name or the password.${others}`,
      `Many providers want an app password here, not the password of the account (${docsPath('caldav.md')}).`,
    );
  }
  if (status === 403)
    return later(
      'caldav.forbidden',
      `${place} does not allow this user to do that.`,
      'Share the calendar with this user so that it may read and write.',
    );
  if (status === 404 || status === 410)
    return later(
      'caldav.not-found',
      `There is no calendar at ${place}.`,
      'Create a calendar for follow-ups in the calendar program, and set url to its CalDAV address. leadsync creates none.',
    );
  if (status >= 300 && status < 400)
    return later(
      'caldav.redirected',
      `${place} points to another address${location === null ? '' : `, ${location}`}: leadsync does not follow with the password.`,
      'Set url to the address of the calendar itself.',
    );
  if (status === 429 || status === 503)
    return later(
      'caldav.limited',
      `${place} accepts no more requests for now (${status}).`,
      'A worker tries again by itself.',
    );
  if (status === 507)
    return later('caldav.full', `There is no more room at ${place} (507).`, 'Make room in that account.');
  if (status >= 500)
    return later('caldav.server-error', `${place} failed (${status}).`, 'A worker tries again by itself.');
  return later(
    'caldav.rejected',
    `${place} rejected a request (${status}).`,
    'Run leadsync check; the address may not be that of a calendar.',
  );
}

export function unreadable(place: string, what: string): LeadsyncError {
  return new LeadsyncError('caldav.unreadable', `${place} sent ${what}.`, {
    retry: 'later',
    help: 'Check that url is the CalDAV address of a calendar, not that of a web page.',
  });
}
