import type { Family } from './families.ts';

const tryAgain = 'Nothing: a worker tries again by itself.';

/** Faults of the Leads service and the table, of mail, chat and calendars. */
export const ofPlaces: readonly Family[] = [
  {
    title: 'The Leads service',
    about: '`leadsync check` tries the address and the key.',
    codes: {
      'leads.bad-key': ['The key is empty, or has characters that no key has.', 'Copy it again.'],
      'leads.bad-url': ['The base URL is no address.', 'Set one such as https://api.example.com.'],
      'leads.closed': ['The client was closed while the process ended.', 'Nothing.'],
      'leads.cursor-repeated': [
        'The service repeats a page without end; the scan was given up.',
        'Report it to the service.',
      ],
      'leads.forbidden': [
        'The key lacks a permission; the message names it.',
        'Give the key that permission.',
      ],
      'leads.insecure-url': ['The address is not encrypted; the key was not sent.', 'Use https://.'],
      'leads.item-invalid': [
        'A lead of the list has no usable id; it was left out.',
        'Correct it in the service.',
      ],
      'leads.not-json': [
        'The reply is no JSON: a proxy or a login page may have answered.',
        'Check the base URL.',
      ],
      'leads.rate-limited': [
        'The service takes no more requests for now.',
        'Nothing: leadsync waits as long as the service says.',
      ],
      'leads.redirected': [
        'The service answered with another address, which the key must not reach.',
        'Set the base URL to the address of the service itself.',
      ],
      'leads.rejected': [
        'The service refused a request.',
        'Read the reason in the message, and correct the value or the setting.',
      ],
      'leads.too-large': ['A reply was larger than leadsync reads.', 'Check the base URL.'],
      'leads.unauthenticated': [
        'The service does not know the key.',
        'Set a key that works, and restart the worker.',
      ],
      'leads.unavailable': ['The service failed, or did not answer in time.', tryAgain],
      'leads.unreachable': [
        'No connection to the service.',
        'Check the base URL, the network and the certificate.',
      ],
    },
  },
  {
    title: 'The table',
    about:
      'The message names the table. Pages for each kind of table: [getting started](getting-started.md#1-choose-a-target).',
    codes: {
      'target.bad-url': ['The address of the table is none.', 'Correct it in the settings.'],
      'target.busy': [
        'Somebody has the table open, or has locked it.',
        'Save and close it; the next sync writes what is left.',
      ],
      'target.cell-not-writable': [
        'A cell is protected, or holds a formula or merged cells.',
        'Take that away in the table; the lead keeps its value meanwhile.',
      ],
      'target.changed': ['The table was changed while it was read or written.', tryAgain],
      'target.closed': ['The target was closed while the process ended.', 'Nothing.'],
      'target.column-missing': [
        'A mapped column is missing, or there are two.',
        'Write the heading as the message says, or change `fields`.',
      ],
      'target.column-new': ['The next sync makes the column of a new field.', 'Nothing.'],
      'target.copied': [
        'The spreadsheet is a copy of one that leadsync syncs.',
        'Set the id of the original; `leadsync check --fix` takes the copy.',
      ],
      'target.credentials-invalid': [
        'The credentials are of the wrong kind.',
        'Make new ones as the message says.',
      ],
      'target.credentials-missing': [
        'There are no credentials for the table.',
        'Set them as the message says.',
      ],
      'target.disk-full': [
        'No space to write the file; it is unchanged.',
        'Free space; the next sync writes what is left.',
      ],
      'target.emptied': ['The file is empty, but had rows.', 'Restore it.'],
      'target.forbidden': [
        'The account may not do that in the table.',
        'Share the table with it as editor, or give the scope that is named.',
      ],
      'target.full': [
        'The spreadsheet has no room.',
        'Delete empty rows and columns, or move old rows elsewhere.',
      ],
      'target.gone': [
        'The table is missing, but had rows.',
        'Put it back, or set the target to its new place.',
      ],
      'target.hard-linked': ['The file has several names (hard links).', 'Give leadsync a file of its own.'],
      'target.header-missing': [
        'No headings that leadsync knows.',
        'Put a row of headings above the rows, or set `fields`.',
      ],
      'target.id-column-missing': ['No column for the ids.', 'Add the heading that the message names.'],
      'target.incomplete': [
        'The file is cut off, or still being written.',
        'Save it again, or restore an older version.',
      ],
      'target.io': ['The disk or share reports an error.', 'Check it.'],
      'target.no-status-column': [
        'There is no single status column for the mark.',
        'Make a column as `statusColumn` names it.',
      ],
      'target.not-found': [
        'The table, tab or database cannot be found.',
        'Check its name or id, and that it is shared with the account.',
      ],
      'target.not-writable': ['The table cannot be written.', 'Give the user of leadsync write permission.'],
      'target.rate-limited': ['The target takes no more requests for now.', 'Nothing: leadsync waits.'],
      'target.refused': ['The target refused a request.', 'Read the reason in the message.'],
      'target.tab-renamed': ['The tab has another name now.', 'Rename it back, or set the new name.'],
      'target.taken-over': ['Another leadsync keeps this table.', 'Stop one of the two.'],
      'target.too-large': [
        'The table is larger than leadsync reads.',
        'Move old rows elsewhere, or give leadsync more memory.',
      ],
      'target.trashed': ['The spreadsheet is in the trash.', 'Take it out.'],
      'target.unauthenticated': ['The target does not take the credentials.', 'Set new ones.'],
      'target.unavailable': ['The target does not answer.', tryAgain],
      'target.unreadable': ['The file cannot be read as a table.', 'Save it again as the message says.'],
      'target.unsuited': [
        'The table lacks what leadsync needs; the message names it.',
        'Change it as the message says.',
      ],
      'target.value-not-storable': [
        'A value of the lead does not fit into the cell.',
        'Shorten it in the service, or change the column.',
      ],
    },
  },
  {
    title: 'Mail',
    about:
      'The sync is not affected. `leadsync status --reminders` lists the mails; `leadsync check` tries the server.',
    codes: {
      'mail.credentials': ['The mail server rejected the login.', 'Set user and password in `SMTP_URL`.'],
      'mail.deferred': ['The mail server does not take the mail yet.', tryAgain],
      'mail.outcome-unknown': [
        'The connection ended before the mail was confirmed.',
        'Nothing: it is sent again with the same Message-ID.',
      ],
      'mail.policy-refused': [
        'The server may not send for this sender to this recipient.',
        'Change `reminders.from`, or allow it on the server.',
      ],
      'mail.refused': ['The mail server refused the mail.', 'Read its words in the message.'],
      'mail.sender-refused': [
        'The mail server does not send for this sender.',
        'Change `reminders.from`, or the user of `SMTP_URL`.',
      ],
      'mail.template-broken': [
        'A template has a mistake; the built-in one is used.',
        'Correct it as the message says.',
      ],
      'mail.unavailable': [
        'The mail server does not answer, or its certificate is not trusted.',
        'Check `SMTP_URL`. A worker tries again by itself.',
      ],
    },
  },
  {
    title: 'Chat',
    about: 'The sync is not affected.',
    codes: {
      'chat.channel-gone': [
        'The webhook does not work any more.',
        'Make a new one, set it, and start the worker again.',
      ],
      'chat.limited': ['The channel takes no more messages for now.', 'Nothing: leadsync waits.'],
      'chat.outcome-unknown': ['The channel did not confirm the message.', 'Look whether it is there.'],
      'chat.refused': [
        'The channel refused the message.',
        'Check the webhook with `leadsync check --send-test chat`.',
      ],
      'chat.unavailable': ['The channel does not answer.', tryAgain],
    },
  },
  {
    title: 'Calendars',
    about: 'The sync is not affected. Setting one up: [caldav.md](caldav.md#set-up).',
    codes: {
      'caldav.emptied': [
        'Most entries are gone, as if the calendar had been emptied or replaced. Nothing was changed.',
        'Answer: `leadsync resolve ADDRESS --use restore`, or `deleted` when it was on purpose.',
      ],
      'caldav.forbidden': ['The user may not write to the calendar.', 'Share the calendar with that user.'],
      'caldav.full': ['The account has no room.', 'Make room.'],
      'caldav.limited': ['The server takes no more requests for now.', tryAgain],
      'caldav.not-a-calendar': [
        'The address is no calendar.',
        'Set the address of one calendar, not of the account.',
      ],
      'caldav.not-found': ['There is no calendar at the address.', 'Make one, and set its address.'],
      'caldav.redirected': [
        'The server points to another address, which the password must not reach.',
        'Set the address of the calendar itself.',
      ],
      'caldav.rejected': ['The server rejected a request.', 'Run `leadsync check`.'],
      'caldav.server-error': ['The server failed.', tryAgain],
      'caldav.tls': ['The certificate of the server is not trusted.', 'Set it as the message says.'],
      'caldav.unauthenticated': [
        'The server rejected the user name or the password.',
        'Many providers want an app password.',
      ],
      'caldav.unreachable': [
        'The server does not answer.',
        'Check the address. A worker tries again by itself.',
      ],
      'caldav.unreadable': [
        'The server sent what leadsync cannot read.',
        'Use a calendar of its own for follow-ups.',
      ],
      'caldav.unsuited': [
        'The calendar takes no entries of this kind.',
        'Choose another calendar, or another kind with `as`.',
      ],
    },
  },
];
