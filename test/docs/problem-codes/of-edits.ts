import type { Family } from './families.ts';

/** What stops a run, what is held or put off, and what a report notes. */
export const ofEdits: readonly Family[] = [
  {
    title: 'A run that the guard stopped',
    about:
      'Nothing was written. `leadsync plan` shows what would be. When it is what you want, `leadsync sync --allow CODE` carries it out, with the code without `guard.`; more about some: [edits.md](edits.md#what-stops-a-run).',
    codes: {
      'guard.empty-scan': [
        'The service showed no lead at all, though leads are known.',
        'Look into the service, and at `leads.query`. Sync again when the leads are there.',
      ],
      'guard.first-leads': [
        'The first sync of a table would make leads of its rows. The message shows how many, which, and what looks unusual.',
        'Take out of the table what is no lead. Then answer y on a terminal, press “Make these leads” on the status page, or sync with `--allow first-leads`.',
      ],
      'guard.ids-unknown': [
        'At least 10 rows and 5 % (or 3 rows and a quarter) have ids that no lead has, while as many known rows are gone. On a first sync: none of at least three ids is one of the service, as in a column of customer numbers.',
        'Put the id column back as it was. On a first sync name another heading for the ids (`idColumn`). An empty id cell is filled again when its row shows what its lead shows.',
      ],
      'guard.max-changes': [
        'More would change than `sync.limits.maxChanges` lets pass (50 %), rows that would be written again included. 10 are always allowed. Not on a first sync.',
        'Look at the plan. Undo it in the table if it was a slip; else allow it.',
      ],
      'guard.max-deletes': [
        'More would be deleted or marked than `sync.limits.maxDeletes` lets pass (10 %). 10 are always allowed, but never more than a quarter of the leads (one at least), unless a number such as 12 says so.',
        'Put the rows or leads back if it was a slip; else allow it.',
      ],
      'guard.misread': [
        'A cell holds whole rows of the table: a quotation mark joined lines of a CSV file, or rows were pasted into a cell. The message names the lines or the cell.',
        'Take the quotation mark at the beginning of that cell out, or put the rows back; sync again.',
      ],
      'guard.older-copy': [
        'The table shows earlier values, as if an older copy had been put back.',
        '`--older-copy update` brings it forward; `--allow older-copy` takes its values as edits. See [older copies](which-is-which.md#older-copies).',
      ],
      'guard.older-service': [
        'The service shows earlier values, as if it had been restored.',
        '`--older-copy update` brings it forward; `--allow older-service` takes its values as edits. See [older copies](which-is-which.md#older-copies).',
      ],
      'guard.older-state': [
        'The database of leadsync is an older one, or a copy of it writes the same table.',
        'Stop the copy, or give it a table of its own. After a restore, allow it: differences are held.',
      ],
      'guard.other-keeper': [
        'Another leadsync wrote to this table since the last sync.',
        'Stop one of the two, or give it another table.',
      ],
      'guard.other-service': [
        'The address is not that of the last run; or the list shows fewer than 5 % of at least three known leads, but others, and none of five known ones is there by its id: the key is another organization’s.',
        'Put the right address and key back. When the service was emptied and filled anew, allow it.',
      ],
      'guard.other-target': [
        'The target is another table than before, and its rows would become leads or differ from them.',
        'Change the target back, or allow it to begin with this table.',
      ],
      'guard.rows-shuffled': [
        'Values stand beside the ids of other leads: 10 rows and 5 % differ in every column, or the values of one column in 10 rows only changed places (a sort of a part of the table), or moved up or down by one to three rows.',
        'Undo the sort or the shift in the table. Always sort whole rows.',
      ],
      'guard.target-gone': [
        'The table is missing or has lost all its rows.',
        'Put it back, or set the target to where it is now. To have it made again, allow it.',
      ],
      'guard.target.emptied': [
        'The file is empty, but had rows.',
        'Restore it. To have it filled again, delete it and allow `target-gone`.',
      ],
      'guard.target.header-missing': [
        'The table has no headings that leadsync knows.',
        'Put the row of headings back, or change `fields`.',
      ],
      'guard.target.id-column-missing': [
        'The heading of the id column is gone.',
        'Write it back. The message names it.',
      ],
      'guard.target.incomplete': [
        'The file is cut off, or still being written.',
        'Save it again from its program, or restore an older version.',
      ],
      'guard.whole-field': [
        'One field would change in every pair, or be emptied in every lead that has it (from 10 on).',
        'Undo it in the table when the column was cleared or filled down; else allow it.',
      ],
    },
  },
  {
    title: 'Conflicts and edits that are held',
    about:
      'Both values stay as they are until somebody decides: `leadsync conflicts`, then `leadsync resolve ID --use lead` or `--use row`. Everything else goes on.',
    codes: {
      'conflict.both-edited': [
        'The same field was changed in the service and in the table.',
        'Decide, or make the two sides equal by hand.',
      ],
      'conflict.edit-meets-delete': [
        'The lead was deleted, but its row was edited.',
        'Delete the row, or clear its id: then a new lead is made of it.',
      ],
      'conflict.first-sight': [
        'The two sides differed when they were compared for the first time.',
        'Decide, or set `onFirstSync` for all of them.',
      ],
      'edit.conflict': [
        'A date changed by a link or in a calendar met another value of the lead.',
        'Decide: `--use requested` writes the requested date.',
      ],
      'edit.failed': [
        'A date changed by a link or in a calendar was refused by the service.',
        'Decide, or change the date in the service.',
      ],
      'edit.invalid': ['The requested value is no date.', 'Enter a date.'],
      'edit.many': [
        'One calendar changed very many follow-ups at once.',
        'Look at them; `leadsync resolve --requested-by ADDRESS --use …` decides all of one person.',
      ],
      'edit.not-allowed': [
        'This field does not travel to the service, so a link or calendar cannot change it.',
        'Change it in the service or in the table.',
      ],
      'lead.field-refused': [
        'The service refused, ignored or changed this value.',
        'Type another value, or take the one of the lead. It is not sent again until it changes.',
      ],
      'lead.put-back': ['The lead shows an earlier value again.', 'Decide which value is right.'],
      'lead.unreadable': [
        'The value in the service is of a kind that this field cannot hold.',
        'Correct it in the service, or decide with `--use row`.',
      ],
      'row.company-name-empty': [
        'The company name is empty, and leads without a name are not sent.',
        'Type a name, or take the one of the lead.',
      ],
      'row.garbled': [
        'The row shows the same text in another encoding.',
        'Save the file as UTF-8, or decide with `--use lead`.',
      ],
      'row.put-back': ['The row shows an earlier value again.', 'Decide which value is right.'],
      'row.unreadable': [
        'The cell cannot be read as its field: a formula, an error, a date with two meanings, …',
        'Type the value, a date as 2026-11-21 09:30.',
      ],
    },
  },
  {
    title: 'Rows',
    about: 'The row is left as it is, until it or its lead is changed; other rows go on.',
    codes: {
      'row.apart': [
        'The row stands apart from the table, below an empty one.',
        'Move it up to the table if it is a lead.',
      ],
      'row.archived': [
        "The company of the lead is in HubSpot's recycle bin.",
        'Restore it there, or delete it permanently.',
      ],
      'row.changed': [
        'The row was changed while the run worked.',
        'Nothing: the next sync compares it again.',
      ],
      'row.column-missing': [
        'A mapped column is missing, or there are two with its heading: nothing new is created meanwhile.',
        'Write the heading back, or change `fields` in leadsync.yaml.',
      ],
      'row.duplicate-id': [
        'An earlier row has the same id; this one is not read.',
        'Clear the id of the copy to make it a new lead, or delete the copy.',
      ],
      'row.duplicated': ['Several rows have the id that was to be written to.', 'Delete the copies.'],
      'row.exists': [
        'A row with the id of this lead is there already, with other values.',
        'Nothing: the next sync compares the two.',
      ],
      'row.gone': ['The row went away while the run worked.', 'Nothing: the next sync looks again.'],
      'row.has-own-cells': [
        'The row was to be removed, but somebody filled other columns of it.',
        'Delete it by hand when it is not needed.',
      ],
      'row.headings': ['A row repeats the headings.', 'Delete that row.'],
      'row.id-closed': [
        'The id cell of a new row cannot be written, so no lead is made of it.',
        'Take the formula or the protection from the id column.',
      ],
      'row.id-lost': [
        'The row has no id, but shows what a lead shows whose row is gone.',
        'Put the id back (the message names it). If it is a new lead, change its values.',
      ],
      'row.id-moved': ['The row has the id of another lead.', 'Put the ids back beside their rows.'],
      'row.id-unreadable': ['The id cell shows a formula or an error.', 'Type the id, or clear the cell.'],
      'row.in-cell': [
        'The id of a missing row stands in another cell.',
        'Put the row back, or take the id out of that cell.',
      ],
      'row.merged': [
        'Its record was merged into another one in the target.',
        'Delete one of the two leads in the service, or part the records.',
      ],
      'row.moved': [
        'The row stands in the table of another connection.',
        'Move it back, or delete it in one of the two tables.',
      ],
      'row.deleted': [
        'With `onRowDeleted: ask`, the row of this lead was deleted.',
        '`leadsync resolve ID --use deleted` deletes the lead too, `--use restore` writes the row again. Or put the row back.',
      ],
      'row.orphan': [
        'No lead has the id of this row.',
        'Delete the row, or clear its id: then a new lead is made of it.',
      ],
      'row.too-large': [
        'The row has more than a million characters in its mapped fields: none of it is read or changed.',
        'Shorten its longest texts, or take the column out of `fields`.',
      ],
      'row.twin': [
        'The row is new, and shows the same company as another row, of which a lead is or was made.',
        'Delete one of the two rows. If they are two companies, decide with `--use row`.',
      ],
      'row.undone': [
        'An undo deleted the lead made from this row, so none is made again.',
        'Change the row, or decide with `--use row`.',
      ],
      'row.without-id': [
        'The row has no id, and `direction: to-target` makes no leads.',
        'Nothing, or set `direction: two-way`.',
      ],
    },
  },
  {
    title: 'Leads',
    about: 'The lead is left as it is; other leads go on.',
    codes: {
      'create.in-doubt': [
        'A lead was being created, and no reply came.',
        'Nothing: the next complete scan looks for it. Where several fit, clear the id of the row or delete the surplus lead.',
      ],
      'delete.unproven': [
        'With `onRowDeleted: delete-lead`, the row is missing in a table without rows, which proves no deletion.',
        'Put the rows back, or delete the lead in the service.',
      ],
      'delete.waiting': [
        'This lead or row is deleted once it has been missing for `sync.proveAfter`; the message says from when on.',
        'Put it back if that is wrong.',
      ],
      'lead.changed': [
        'The lead was changed while the run worked.',
        'Nothing: the next sync compares it again.',
      ],
      'lead.create-refused': [
        'The service refused the row as a lead.',
        'Change the row as the message says; or `leadsync resolve ID --use row` sends it again.',
      ],
      'lead.deleted': [
        'With `onLeadDeleted: ask`, the lead of this row was deleted in the service.',
        '`leadsync resolve ID --use deleted` removes the row too, `--use restore` makes a new lead of it, in the second sync after that.',
      ],
      'lead.exists': [
        'The service answered a new row with a lead that it has already.',
        'Delete the row, or change it so that it is another lead.',
      ],
      'lead.gone': ['The lead went away while the run worked.', 'Nothing: the next sync looks again.'],
      'lead.still-there': [
        'The list lacks the lead, but the service has it under its id: it is not deleted.',
        'Nothing: the next sync looks again.',
      ],
      'lead.too-large': [
        'The lead has more than a million characters in its mapped fields: none of it is read or changed, and its row stays as it is.',
        'Shorten its longest texts in the service, or take the column out of `fields`.',
      ],
      'lead.unasked': [
        'The list lacks the lead, and the service did not say whether it is there.',
        'See the reason; the key may have to read single leads. The next sync asks again.',
      ],
      'lead.undone': [
        'An undo removed the row of this lead, so none is written again.',
        'Change the lead, or decide with `--use lead`.',
      ],
      'match.ambiguous': [
        'A row may be several leads, or a lead several rows.',
        '`leadsync conflicts` shows them; `leadsync resolve ID --use link` for one, or `--use apart` for all.',
      ],
      'match.proposed': [
        'A row without id may be a lead that is there.',
        '`leadsync conflicts` shows both; `leadsync resolve ID --use link`, or `apart`.',
      ],
    },
  },
  {
    title: 'What a report says of a run',
    about: 'Some of these are notes and need nothing.',
    codes: {
      'audit.unexplained': [
        'The two sides differ, and leadsync does not know why.',
        'Please report it with the log. The next run compares all again.',
      ],
      'place.conflict-copies': [
        'A conflict copy lies beside the table.',
        'Take over what is missing, then delete the copy.',
      ],
      'place.encoding': [
        'The file does not say in which encoding it is; the message names the one that was guessed, with a text as it was read.',
        'Nothing when that text is right. Else save the file as "CSV UTF-8" and sync again.',
      ],
      'place.first-sync': ['This table is synced for the first time.', 'Nothing.'],
      'place.moved': ['The table is at another place now, and the sync goes on there.', 'Nothing.'],
      'place.shared': ['Two connections keep the same table in step.', 'Give each a table of its own.'],
      'place.switched': [
        'The target is a former one again; the sync goes on from where it was left.',
        'Nothing.',
      ],
      'plan.line-edited': [
        'A line of the plan was changed by hand.',
        'Make a new plan: `leadsync plan --out FILE`.',
      ],
      'plan.stale': [
        'What the plan saw is not there any more; that line was not carried out.',
        'Make a new plan.',
      ],
      'receipt.changed': [
        'A lead or row shows something else than was written a moment before.',
        'Nothing: it was edited since. The next run compares it.',
      ],
      'receipt.unaccounted': [
        'The numbers of a run do not add up.',
        'Please report it with the log. The next run compares all again.',
      ],
      'receipt.unexplained': [
        'A write was confirmed, but does not show.',
        'Look whether an older copy of the table was saved over it. The next run looks again.',
      ],
      'undo.edited-since': ['Somebody edited the value after the run.', 'Nothing, or change it by hand.'],
      'undo.gone': ['The lead or row is gone.', 'Nothing can be put back there.'],
      'undo.lead-deleted': [
        'A deleted lead cannot come back under its id.',
        'Make it anew in the service or the table.',
      ],
      'undo.not-writable': ['The earlier value was a formula or unreadable.', 'Put it back by hand.'],
      'undo.nothing': ['The run wrote nothing.', 'Nothing. `leadsync status --runs` lists the others.'],
      'undo.other-place': ['The run wrote to another table.', 'Set the target back, then undo.'],
      'undo.row-exists': ['The removed row is there again.', 'Nothing.'],
      'undo.written-since': ['A later run wrote the same.', 'Undo the later run first.'],
    },
  },
];
