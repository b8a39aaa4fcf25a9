import { type Family, nothing } from './families.ts';

const again = 'A worker tries again.';

/** Faults of what leadsync talks to: the service, tables, mail servers, chats, calendars. */
export const ofPlaces: readonly Family[] = [
  {
    title: 'The Leads service',
    about: '`leadsync check` tries address and key.',
    codes: {
      'leads.bad-key': ['The key is empty, or has characters that no key has.', 'Copy it again.'],
      'leads.bad-url': ['The base URL is no address.', 'Set one such as https://api.example.com.'],
      'leads.closed': ['The process ended.', nothing],
      'leads.cursor-repeated': [
        'The service repeats a page without end; the scan was given up.',
        'Report it to the service.',
      ],
      'leads.forbidden': ['The key lacks a permission; the message names it.', 'Give it to the key.'],
      'leads.insecure-url': ['The address is not encrypted; the key was not sent.', 'Use https://.'],
      'leads.item-invalid': [
        'A lead of the list has no usable id and was left out.',
        'Correct it in the service.',
      ],
      'leads.not-json': ['The reply is no JSON: perhaps of a proxy or login page.', 'Check the base URL.'],
      'leads.rate-limited': [
        'The service takes no more requests for now; leadsync waits as long as it says.',
        nothing,
      ],
      'leads.redirected': [
        'The service named another address, which the key must not reach.',
        "Set the service's own base URL.",
      ],
      'leads.rejected': [
        'The service refused a request.',
        'Correct value or setting, by the reason in the message.',
      ],
      'leads.too-large': ['A reply was larger than leadsync reads.', 'Check the base URL.'],
      'leads.unauthenticated': [
        'The service does not know the key.',
        'Set one that works; restart the worker.',
      ],
      'leads.unavailable': ['The service failed, or did not answer in time.', again],
      'leads.unreachable': ['No connection to the service.', 'Check base URL, network and certificate.'],
    },
  },
  {
    title: 'The table',
    about:
      'The message names it. Pages for each kind: [getting started](getting-started.md#1-choose-a-target).',
    codes: {
      'target.bad-url': ['Its address is none.', 'Correct the setting.'],
      'target.busy': [
        'Somebody has it open or locked.',
        'Save and close it; the next sync writes what is left.',
      ],
      'target.cell-not-writable': [
        'A cell is protected, merged, or a formula; the lead keeps its value.',
        'Take that away in the table.',
      ],
      'target.changed': ['It was changed while it was read or written.', again],
      'target.closed': ['The process ended.', nothing],
      'target.column-missing': [
        'A mapped column is missing, or there twice.',
        'Write the heading as the message says, or change `fields`.',
      ],
      'target.column-new': ['The next sync makes the column of a new field.', nothing],
      'target.copied': [
        'The spreadsheet is a copy of one that leadsync syncs.',
        "Set the original's id, or take the copy: `leadsync check --fix`.",
      ],
      'target.credentials-invalid': [
        'The credentials are of the wrong kind.',
        'Make new ones as the message says.',
      ],
      'target.credentials-missing': ['There are no credentials.', 'Set them as the message says.'],
      'target.disk-full': [
        'No space to write the file; it is unchanged.',
        'Free space; the next sync writes what is left.',
      ],
      'target.emptied': ['The file is empty, but had rows.', 'Restore it.'],
      'target.forbidden': [
        'The account may not do that.',
        'Share the table with it as editor, or give the scope that is named.',
      ],
      'target.full': ['The spreadsheet has no room.', 'Delete empty rows and columns, or move old rows.'],
      'target.gone': ['It is missing, but had rows.', 'Put it back, or set the target to its new place.'],
      'target.hard-linked': ['The file has several names (hard links).', 'Give leadsync its own file.'],
      'target.header-missing': [
        'No headings that leadsync knows.',
        'Put headings above the rows, or set `fields`.',
      ],
      'target.id-column-missing': ['No column for the ids.', 'Add the heading that the message names.'],
      'target.incomplete': [
        'The file is cut off, or still being written.',
        'Save it again, or restore an older version.',
      ],
      'target.io': ['Disk or share reports an error.', 'Check it.'],
      'target.no-status-column': [
        'There is no single status column for the mark.',
        'Make the column of `statusColumn`.',
      ],
      'target.not-found': [
        'Table, tab or database cannot be found.',
        'Check name or id, and that it is shared with the account.',
      ],
      'target.not-writable': ['It cannot be written.', "Give leadsync's user write permission."],
      'target.rate-limited': ['The target takes no more requests for now; leadsync waits.', nothing],
      'target.refused': ['The target refused a request.', 'See the reason in the message.'],
      'target.tab-renamed': ['The tab has another name.', 'Rename it back, or set the new name.'],
      'target.taken-over': ['Another leadsync keeps this table.', 'Stop one.'],
      'target.too-large': [
        'It is larger than leadsync reads.',
        'Move old rows elsewhere, or give leadsync more memory.',
      ],
      'target.trashed': ['The spreadsheet is in the trash.', 'Take it out.'],
      'target.unauthenticated': ['The target does not take the credentials.', 'Set new ones.'],
      'target.unavailable': ['The target does not answer.', again],
      'target.unreadable': ['The file cannot be read as a table.', 'Save it again as the message says.'],
      'target.unsuited': ['It lacks what leadsync needs.', 'Change it as the message says.'],
      'target.value-not-storable': [
        "A lead's value does not fit into the cell.",
        'Shorten it in the service, or change the column.',
      ],
    },
  },
  {
    title: 'Mail',
    about:
      'The sync goes on. `leadsync status --reminders` lists the mails; `leadsync check` tries the server.',
    codes: {
      'mail.credentials': ['The mail server rejected the login.', 'Correct `SMTP_URL`.'],
      'mail.deferred': ['The server does not take the mail yet.', again],
      'mail.outcome-unknown': [
        'The connection ended before the mail was confirmed; it is sent again with the same Message-ID.',
        nothing,
      ],
      'mail.policy-refused': [
        'The server may not send for this sender to this recipient.',
        'Change `reminders.from`, or allow it there.',
      ],
      'mail.refused': ['The server refused the mail.', 'See its words in the message.'],
      'mail.sender-refused': [
        'The server does not send for this sender.',
        'Change `reminders.from`, or the user of `SMTP_URL`.',
      ],
      'mail.template-broken': [
        'A template has a mistake; the built-in one is used.',
        'Correct it as the message says.',
      ],
      'mail.unavailable': [
        'The server does not answer, or its certificate is not trusted.',
        'Check `SMTP_URL`. A worker tries again.',
      ],
    },
  },
  {
    title: 'Chat',
    about: 'The sync goes on.',
    codes: {
      'chat.channel-gone': [
        'The webhook does not work any more.',
        'Make and set a new one; restart the worker.',
      ],
      'chat.limited': ['The channel takes no more messages for now; leadsync waits.', nothing],
      'chat.outcome-unknown': ['The channel did not confirm the message.', 'Look whether it is there.'],
      'chat.refused': ['The channel refused the message.', 'Try `leadsync check --send-test chat`.'],
      'chat.unavailable': ['The channel does not answer.', again],
    },
  },
  {
    title: 'Calendars',
    about: 'The sync goes on. [Set-up](caldav.md#set-up).',
    codes: {
      'caldav.emptied': [
        'Most entries are gone, as if the calendar was emptied or replaced; nothing was changed.',
        '`leadsync resolve ADDRESS --use restore`, or `deleted` if on purpose.',
      ],
      'caldav.forbidden': ['The user may not write to the calendar.', 'Share it with that user.'],
      'caldav.full': ['The account has no room.', 'Make room.'],
      'caldav.limited': ['The server takes no more requests for now.', again],
      'caldav.not-a-calendar': [
        'The address is no calendar.',
        'Set that of one calendar, not of the account.',
      ],
      'caldav.not-found': ['There is no calendar at the address.', 'Make one, and set its address.'],
      'caldav.redirected': [
        'The server names another address, which the password must not reach.',
        "Set the calendar's own.",
      ],
      'caldav.rejected': ['The server rejected a request.', 'Run `leadsync check`.'],
      'caldav.server-error': ['The server failed.', again],
      'caldav.tls': ["The server's certificate is not trusted.", 'Set it as the message says.'],
      'caldav.unauthenticated': [
        'The server rejected user or password.',
        'Many providers want an app password.',
      ],
      'caldav.unreachable': ['The server does not answer.', 'Check the address. A worker tries again.'],
      'caldav.unreadable': [
        'The server sent what leadsync cannot read.',
        'Use a calendar for follow-ups alone.',
      ],
      'caldav.unsuited': ['The calendar takes no entries of this kind.', 'Choose another, or another `as`.'],
    },
  },
];
