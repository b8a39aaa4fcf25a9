import { type Family, nothing } from './families.ts';

const plan = 'Make a new plan.';

/** What stops a run, what is held or put off, and what a report notes. */
export const ofEdits: readonly Family[] = [
  {
    title: 'A run that the guard stopped',
    about:
      'Nothing was written. `leadsync plan` shows what would be; `leadsync sync --allow CODE` (without `guard.`) carries it out, when it is what you want. More: [edits.md](edits.md#what-stops-a-run).',
    codes: {
      'guard.empty-scan': [
        'The service showed no lead, though leads are known.',
        'Look into the service, and at `leads.query`.',
      ],
      'guard.first-leads': [
        'A first sync would make leads of rows; the message says which, and what looks unusual.',
        'Take out what is no lead. Then answer y, press “Make these leads” on the status page, or `--allow first-leads`.',
      ],
      'guard.ids-unknown': [
        "At least 10 rows and 5 % (or 3 rows and a quarter) have ids that no lead has, while as many known rows are gone. On a first sync: none of three ids or more is the service's (customer numbers?).",
        'Put the id column back. On a first sync set another `idColumn`. An empty id is filled again where the row shows what its lead shows.',
      ],
      'guard.max-changes': [
        'More would change than `sync.limits.maxChanges` (50 %), rows written again included; 10 are always allowed. Not on a first sync.',
        'Undo a slip in the table; else allow it.',
      ],
      'guard.max-deletes': [
        'More would be deleted or marked than `sync.limits.maxDeletes` (10 %). 10 are always allowed, but no more than a quarter of the leads (one at least), unless the limit is a number such as 12.',
        'Put them back if it was a slip; else allow it.',
      ],
      'guard.misread': [
        'A cell holds whole rows: a quotation mark joined lines of a CSV file, or rows were pasted into a cell. The message says where.',
        'Take out the quotation mark at the beginning of that cell, or put the rows back.',
      ],
      'guard.older-copy': [
        'The table shows earlier values, as an older copy would.',
        '`--older-copy update` brings it forward; `--allow older-copy` takes its values as edits ([older copies](which-is-which.md#older-copies)).',
      ],
      'guard.older-service': [
        'The service shows earlier values, as after a restore.',
        'As above, with `--allow older-service`.',
      ],
      'guard.older-state': [
        'The state is an older one, or a copy of it writes the same table.',
        'Stop the copy, or give it another table. After a restore, allow it: differences are held.',
      ],
      'guard.other-keeper': [
        'Another leadsync wrote to this table since the last sync.',
        'Stop one, or give it another table.',
      ],
      'guard.other-service': [
        'The address is another than last time; or the list shows other leads and under 5 % of at least three known ones, and five known ones are not there by id: the key of another organization.',
        'Put address and key back. If the service was emptied and filled anew, allow it.',
      ],
      'guard.other-target': [
        'The target is another table, whose rows would become leads or differ.',
        'Change it back, or allow it.',
      ],
      'guard.rows-shuffled': [
        'Values stand beside ids of other leads: 10 rows and 5 % differ in every column, or values of one column in 10 rows changed places (a sort of a part), or moved by one to three rows.',
        'Undo that in the table. Sort whole rows.',
      ],
      'guard.target-gone': [
        'The table is missing, or lost all rows.',
        'Put it back, or set the target to where it is. To have it made again, allow it.',
      ],
      'guard.target.emptied': [
        'The file is empty, but had rows.',
        'Restore it. To have it filled again, delete it and allow `target-gone`.',
      ],
      'guard.target.header-missing': [
        'No headings that leadsync knows.',
        'Put them back, or change `fields`.',
      ],
      'guard.target.id-column-missing': [
        'The heading of the id column is gone.',
        'Write it back as the message says.',
      ],
      'guard.target.incomplete': [
        'The file is cut off, or still being written.',
        'Save it again, or restore an older version.',
      ],
      'guard.whole-field': [
        'One field would change in every pair, or be emptied in every lead that has it (from 10 on).',
        'Undo it in the table if the column was cleared or filled down; else allow it.',
      ],
    },
  },
  {
    title: 'Conflicts and edits that are held',
    about:
      'Both values stay until somebody decides: `leadsync conflicts`, then `leadsync resolve ID --use lead` or `row`. All else goes on.',
    codes: {
      'conflict.both-edited': ['The field was changed on both sides.', 'Decide, or make the sides equal.'],
      'conflict.edit-meets-delete': [
        'The lead was deleted, its row edited.',
        'Delete the row, or clear its id to make a new lead of it.',
      ],
      'conflict.first-sight': ['The sides differed at first sight.', 'Decide, or set `onFirstSync` for all.'],
      'edit.conflict': [
        'A date changed by link or calendar met another value.',
        'Decide: `--use requested` writes it.',
      ],
      'edit.failed': [
        'The service refused a date changed by link or calendar.',
        'Decide, or change it in the service.',
      ],
      'edit.invalid': ['The requested value is no date.', 'Enter a date.'],
      'edit.many': [
        'One calendar changed very many follow-ups at once.',
        'Look at them; `leadsync resolve --requested-by ADDRESS --use …` decides all.',
      ],
      'edit.not-allowed': [
        'This field does not travel to the service.',
        'Change it in the service or the table.',
      ],
      'lead.field-refused': [
        'The service refused, ignored or changed this value; it is not sent again until it changes.',
        "Type another, or take the lead's.",
      ],
      'lead.put-back': ['The lead shows an earlier value again.', 'Decide which is right.'],
      'lead.unreadable': [
        "The service's value is of a kind that this field cannot hold.",
        'Correct it there, or `--use row`.',
      ],
      'row.company-name-empty': [
        'The company name is empty; leads without one are not sent.',
        "Type a name, or take the lead's.",
      ],
      'row.garbled': [
        'The row shows the text in another encoding.',
        'Save the file as UTF-8, or `--use lead`.',
      ],
      'row.put-back': ['The row shows an earlier value again.', 'Decide which is right.'],
      'row.unreadable': [
        'The cell cannot be read: a formula, an error, a date with two meanings …',
        'Type the value, a date as 2026-11-21 09:30.',
      ],
    },
  },
  {
    title: 'Rows',
    about: 'The row is left as it is, until it or its lead changes; others go on.',
    codes: {
      'row.apart': ['It stands apart, below an empty row.', 'Move it up if it is a lead.'],
      'row.archived': [
        "The lead's company is in HubSpot's recycle bin.",
        'Restore it, or delete it permanently.',
      ],
      'row.changed': ['It was changed while the run worked.', 'The next sync compares it again.'],
      'row.column-missing': [
        'A mapped column is missing or there twice; nothing new is created meanwhile.',
        'Write the heading back, or change `fields`.',
      ],
      'row.duplicate-id': [
        'An earlier row has this id; this one is not read.',
        "Clear the copy's id for a new lead, or delete the copy.",
      ],
      'row.duplicated': ['Several rows have the id to write to.', 'Delete the copies.'],
      'row.exists': [
        "A row with this lead's id is there, with other values.",
        'The next sync compares them.',
      ],
      'row.gone': ['It went away while the run worked.', 'The next sync looks again.'],
      'row.has-own-cells': ["It was to be removed, but has cells of somebody's own.", 'Delete it by hand.'],
      'row.headings': ['It repeats the headings.', 'Delete it.'],
      'row.id-closed': [
        'The id cell of a new row cannot be written, so no lead is made.',
        'Take formula or protection from the id column.',
      ],
      'row.id-lost': [
        'It has no id, but shows what a lead shows whose row is gone.',
        'Put the id back as the message says; for a new lead, change its values.',
      ],
      'row.id-moved': ['It has the id of another lead.', 'Put the ids back beside their rows.'],
      'row.id-unreadable': ['The id cell shows a formula or an error.', 'Type the id, or clear the cell.'],
      'row.in-cell': [
        'The id of a missing row stands in another cell.',
        'Put the row back, or take the id out.',
      ],
      'row.merged': [
        'Its record was merged into another in the target.',
        'Delete one of the two leads, or part the records.',
      ],
      'row.moved': ["It stands in another connection's table.", 'Move it back, or delete one.'],
      'row.orphan': ['No lead has its id.', 'Delete it, or clear its id for a new lead.'],
      'row.too-large': [
        'Over a million characters in mapped fields: it is neither read nor changed.',
        'Shorten its longest texts, or take the column out of `fields`.',
      ],
      'row.twin': [
        'It is new and shows the same company as another row, of which a lead is made.',
        'Delete one; if they are two companies, `--use row`.',
      ],
      'row.undone': ['An undo deleted its lead; none is made again.', 'Change the row, or `--use row`.'],
      'row.without-id': [
        'It has no id, and `direction: to-target` makes no leads.',
        'Set `two-way`, if it should be one.',
      ],
    },
  },
  {
    title: 'Leads',
    about: 'The lead is left as it is; others go on.',
    codes: {
      'create.in-doubt': [
        'A create got no reply. The next complete scan looks for the lead.',
        "Where several fit, clear the row's id or delete the surplus lead.",
      ],
      'delete.unproven': [
        'The row is missing in a table without rows, which proves no deletion (`onRowDeleted: delete-lead`).',
        'Put the rows back, or delete the lead in the service.',
      ],
      'delete.waiting': ['The next sync deletes this lead or row.', 'Put it back if that is wrong.'],
      'lead.changed': ['It was changed while the run worked.', 'The next sync compares it again.'],
      'lead.create-refused': [
        'The service refused the row as a lead.',
        'Change the row as the message says; or `leadsync resolve ID --use row` sends it again.',
      ],
      'lead.exists': [
        'The service answered a new row with a lead that it has.',
        'Delete the row, or make it another lead.',
      ],
      'lead.gone': ['It went away while the run worked.', 'The next sync looks again.'],
      'lead.still-there': [
        'The list lacks it, but it is there by its id: not deleted.',
        'The next sync looks again.',
      ],
      'lead.too-large': [
        'Over a million characters in mapped fields: it is neither read nor changed, nor is its row.',
        'Shorten its longest texts, or take the column out of `fields`.',
      ],
      'lead.unasked': [
        'The list lacks it, and the service did not say whether it is there.',
        'See the reason; the key may have to read single leads. The next sync asks again.',
      ],
      'lead.undone': ['An undo removed its row; none is written again.', 'Change the lead, or `--use lead`.'],
      'match.ambiguous': [
        'A row may be several leads, or a lead several rows.',
        'See `leadsync conflicts`; `leadsync resolve ID --use link` for one, `--use apart` for all.',
      ],
      'match.proposed': [
        'A row without id may be a known lead.',
        'See `leadsync conflicts`; `leadsync resolve ID --use link`, or `apart`.',
      ],
    },
  },
  {
    title: 'What a report says of a run',
    about: '',
    codes: {
      'audit.unexplained': [
        'The sides differ, and leadsync does not know why. The next run compares all again.',
        'Please report it with the log.',
      ],
      'place.conflict-copies': [
        'A conflict copy lies beside the table.',
        'Take over what is missing, then delete it.',
      ],
      'place.encoding': [
        'The file does not name its encoding; the message shows the guess with a text.',
        'If that is wrong, save as "CSV UTF-8" and sync again.',
      ],
      'place.first-sync': ['This table is synced for the first time.', nothing],
      'place.moved': ['The table is elsewhere now; the sync goes on there.', nothing],
      'place.shared': ['Two connections keep the same table.', 'Give each its own.'],
      'place.switched': [
        'The target is a former one again; the sync goes on from where it was left.',
        nothing,
      ],
      'plan.line-edited': ['A line of the plan was changed by hand.', plan],
      'plan.stale': ['What the plan saw is gone; that line was not carried out.', plan],
      'receipt.changed': [
        'A record shows something else than was just written: edited since.',
        'The next run compares it.',
      ],
      'receipt.unaccounted': [
        'The numbers of a run do not add up. The next run compares all again.',
        'Please report it with the log.',
      ],
      'receipt.unexplained': [
        'A confirmed write does not show. The next run looks again.',
        'Was an older copy of the table saved over it?',
      ],
      'undo.edited-since': ['Somebody edited the value after the run.', 'Change it by hand if need be.'],
      'undo.gone': ['The lead or row is gone: nothing can be put back.', nothing],
      'undo.lead-deleted': ['A deleted lead cannot come back under its id.', 'Make it anew.'],
      'undo.not-writable': ['The earlier value was a formula or unreadable.', 'Put it back by hand.'],
      'undo.nothing': ['The run wrote nothing.', 'See `leadsync status --runs`.'],
      'undo.other-place': ['The run wrote to another table.', 'Set the target back, then undo.'],
      'undo.row-exists': ['The removed row is there again.', nothing],
      'undo.written-since': ['A later run wrote the same.', 'Undo that one first.'],
    },
  },
];
