import { type Family, nothing } from './families.ts';

const again = 'A worker tries again.';

/** Faults of what leadsync talks to: the service, tables, mail servers, chats, calendars. */
export const ofPlaces: readonly Family[] = [
  {
    title: 'The Leads service',
    about: '`leadsync check` tries address and key.',
    codes: {
      'leads.bad-key': ['The key is empty or malformed.', 'Copy it again.'],
      'leads.bad-url': ['The base URL is no address.', 'Set one such as https://api.example.com.'],
      'leads.closed': ['The process ended.', nothing],
      'leads.cursor-repeated': ['A page repeats without end.', 'Report it to the service.'],
      'leads.forbidden': ['The key lacks the permission that is named.', 'Give it.'],
      'leads.insecure-url': ['Not encrypted; the key was not sent.', 'Use https://.'],
      'leads.item-invalid': ['A lead has no usable id; left out.', 'Correct it in the service.'],
      'leads.not-json': ['The reply is no JSON: of a proxy or login page?', 'Check the base URL.'],
      'leads.rate-limited': ['No more requests for now; leadsync waits.', nothing],
      'leads.redirected': ['The service named another address; the key stays.', "Set the service's own."],
      'leads.rejected': ['The service refused a request.', 'Correct value or setting by its reason.'],
      'leads.too-large': ['The reply was too large.', 'Check the base URL.'],
      'leads.unauthenticated': ['The service does not know the key.', 'Set another; restart the worker.'],
      'leads.unavailable': ['The service failed, or was too slow.', again],
      'leads.unreachable': ['No connection to the service.', 'Check base URL, network and certificate.'],
    },
  },
  {
    title: 'The table',
    about:
      'The message names it. Pages for each kind: [getting started](getting-started.md#1-choose-a-target).',
    codes: {
      'target.bad-url': ['Its address is none.', 'Correct the setting.'],
      'target.busy': ['Somebody has it open or locked.', 'Save and close it.'],
      'target.cell-not-writable': ['A cell is protected, merged, or a formula.', 'Take that away.'],
      'target.changed': ['Changed while it was read or written.', again],
      'target.closed': ['The process ended.', nothing],
      'target.column-missing': [
        'A mapped column is missing, or there twice.',
        'Write the heading, or change `fields`.',
      ],
      'target.column-new': ['The next sync makes the column of a new field.', nothing],
      'target.copied': ['The spreadsheet is a copy.', "Set the original's id, or `leadsync check --fix`."],
      'target.credentials-invalid': ['Credentials of the wrong kind.', 'Make new ones as the message says.'],
      'target.credentials-missing': ['There are no credentials.', 'Set them as the message says.'],
      'target.disk-full': ['No space to write the file; it is unchanged.', 'Free space.'],
      'target.emptied': ['The file is empty, but had rows.', 'Restore it.'],
      'target.forbidden': ['The account may not do that.', 'Share it as editor, or give the named scope.'],
      'target.full': ['The spreadsheet has no room.', 'Delete empty rows and columns.'],
      'target.gone': ['It is missing, but had rows.', 'Put it back, or set its new place.'],
      'target.hard-linked': ['The file has several names (hard links).', 'Give leadsync its own.'],
      'target.header-missing': [
        'No headings that leadsync knows.',
        'Put headings above the rows, or set `fields`.',
      ],
      'target.id-column-missing': ['No column for the ids.', 'Add the named heading.'],
      'target.incomplete': ['The file is cut off, or still being written.', 'Save it again, or restore it.'],
      'target.io': ['Disk or share reports an error.', 'Check it.'],
      'target.no-status-column': ['No single status column for the mark.', 'Make the one of `statusColumn`.'],
      'target.not-found': ['Table, tab or database cannot be found.', 'Check name, id and rights.'],
      'target.not-writable': ['It cannot be written.', "Give leadsync's user the right."],
      'target.pause-column-missing': [
        'No single column of `pauseColumn`.',
        'Write the heading back; in HubSpot `leadsync check --fix` makes the property.',
      ],
      'target.rate-limited': ['No more requests for now; leadsync waits.', nothing],
      'target.refused': ['The target refused a request.', 'See its reason.'],
      'target.tab-renamed': ['The tab has another name.', 'Rename it back, or set the new name.'],
      'target.taken-over': ['Another leadsync keeps this table.', 'Stop one.'],
      'target.too-large': ['Larger than leadsync reads.', 'Move old rows out, or give more memory.'],
      'target.trashed': ['The spreadsheet is in the trash.', 'Take it out.'],
      'target.unauthenticated': ['The target does not take the credentials.', 'Set new ones.'],
      'target.unavailable': ['The target does not answer.', again],
      'target.unreadable': ['The file is no readable table.', 'Save it again as the message says.'],
      'target.unsuited': ['It lacks what leadsync needs.', 'Change it as the message says.'],
      'target.value-not-storable': [
        "A lead's value does not fit into the cell.",
        'Shorten it, or change the column.',
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
      'mail.outcome-unknown': ['The connection ended early; sent again with the same Message-ID.', nothing],
      'mail.policy-refused': [
        'It may not send for this sender to this recipient.',
        'Change `reminders.from`, or allow it there.',
      ],
      'mail.refused': ['The server refused the mail.', 'See its words in the message.'],
      'mail.sender-refused': [
        'The server does not send for this sender.',
        'Change `reminders.from`, or the user of `SMTP_URL`.',
      ],
      'mail.template-broken': ['A template has a mistake; the built-in one is used.', 'Correct it.'],
      'mail.unavailable': ['No answer, or an untrusted certificate.', 'Check `SMTP_URL`.'],
    },
  },
  {
    title: 'Chat',
    about: 'The sync goes on.',
    codes: {
      'chat.channel-gone': ['The webhook is gone.', 'Set a new one; restart the worker.'],
      'chat.limited': ['No more messages for now; leadsync waits.', nothing],
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
        'Most entries are gone; nothing was changed.',
        '`leadsync resolve ADDRESS --use restore`, or `deleted` if on purpose.',
      ],
      'caldav.forbidden': ['The user may not write to the calendar.', 'Share it with that user.'],
      'caldav.full': ['The account has no room.', 'Make room.'],
      'caldav.limited': ['No more requests for now.', again],
      'caldav.not-a-calendar': [
        'The address is no calendar.',
        'Set that of one calendar, not of the account.',
      ],
      'caldav.not-found': ['There is no calendar at the address.', 'Make one, and set its address.'],
      'caldav.redirected': [
        'The server names another address; the password stays.',
        "Set the calendar's own.",
      ],
      'caldav.rejected': ['The server rejected a request.', 'Run `leadsync check`.'],
      'caldav.server-error': ['The server failed.', again],
      'caldav.tls': ["The server's certificate is not trusted.", 'Set it as the message says.'],
      'caldav.unauthenticated': ['User or password rejected.', 'Many providers want an app password.'],
      'caldav.unreachable': ['The server does not answer.', 'Check the address. A worker tries again.'],
      'caldav.unreadable': [
        'The server sent what leadsync cannot read.',
        'Use a calendar for follow-ups alone.',
      ],
      'caldav.unsuited': ['The calendar takes no entries of this kind.', 'Choose another, or another `as`.'],
    },
  },
];
