import { type Family, nothing } from './families.ts';

const plan = 'Make a new plan.';

/** What stops a run, what is held or put off, and what a report notes. */
export const ofEdits: readonly Family[] = [
  {
    title: 'A run that the guard stopped',
    about:
      'Nothing was written. `leadsync plan` shows what would be; `leadsync sync --allow CODE` (without `guard.`) allows it. More: [edits.md](edits.md#what-stops-a-run).',
    codes: {
      'guard.empty-scan': [
        'The service showed no lead, though leads are known.',
        'Look into it, and at `leads.query`.',
      ],
      'guard.first-leads': [
        'A first sync would make leads of rows.',
        'Take out what is no lead, then answer y or allow it.',
      ],
      'guard.ids-unknown': [
        "10 rows and 5 % (or 3 and a quarter) have ids that no lead has, while as many known rows are gone; on a first sync none of three ids is the service's.",
        'Put the id column back, or set another `idColumn`.',
      ],
      'guard.max-changes': [
        'More would change than `sync.limits.maxChanges` (50 %; 10 rows always may), not on a first sync.',
        'Undo a slip; else allow it.',
      ],
      'guard.max-deletes': [
        'More would be deleted or marked than `sync.limits.maxDeletes` (10 %; 10 rows always may, but at most a quarter, unless it is a number such as 12).',
        'Put them back; else allow it.',
      ],
      'guard.misread': [
        'A cell holds whole rows, joined by a quotation mark or pasted.',
        'Take out the mark at its beginning, or put the rows back.',
      ],
      'guard.older-copy': [
        'The table shows earlier values, as an [older copy](which-is-which.md#older-copies) would.',
        '`--older-copy update` brings it forward; allowed, its values are edits.',
      ],
      'guard.older-service': [
        'The service shows earlier values, as after a restore.',
        '`--older-copy update` brings it forward; allowed, its values are edits.',
      ],
      'guard.older-state': [
        'The state is older, or a copy of it writes this table.',
        'Stop the copy; after a restore, allow it: differences are held.',
      ],
      'guard.other-keeper': ['Another leadsync wrote to this table.', 'Stop one, or give it another table.'],
      'guard.other-service': [
        "The address is another; or the list shows other leads and under 5 % of at least three known ones, of which five are not there by id: another organization's key.",
        'Put them back; if the service was filled anew, allow it.',
      ],
      'guard.other-target': [
        'The target is another table, whose rows would become leads or differ.',
        'Change it back, or allow it.',
      ],
      'guard.rows-shuffled': [
        '10 rows and 5 % differ in every column, or values of one column in 10 rows changed places or moved by one to three rows.',
        'Undo that; sort whole rows.',
      ],
      'guard.target-gone': [
        'The table is missing, or lost all rows.',
        'Put it back, set its new place, or allow it: it is made again.',
      ],
      'guard.target.emptied': [
        'The file is empty, but had rows.',
        'Restore it; or delete it and allow `target-gone`.',
      ],
      'guard.target.header-missing': [
        'No headings that leadsync knows.',
        'Put them back, or change `fields`.',
      ],
      'guard.target.id-column-missing': ["The id column's heading is gone.", 'Write it back.'],
      'guard.target.incomplete': [
        'The file is cut off, or still being written.',
        'Save it again, or restore it.',
      ],
      'guard.target.pause-column-missing': [
        "The pause column's heading is gone, or doubled.",
        'Write it back.',
      ],
      'guard.whole-field': [
        'One field would change in every pair, or be emptied in every lead that has it (from 10 on).',
        'Undo it; else allow it.',
      ],
    },
  },
  {
    title: 'Conflicts and edits that are held',
    about:
      'Both values stay until somebody decides: `leadsync conflicts`, then `leadsync resolve ID --use lead` or `row`. All else goes on.',
    codes: {
      'conflict.both-edited': ['Both sides changed the field.', 'Decide, or make them equal.'],
      'conflict.edit-meets-delete': [
        'The lead was deleted, its row edited.',
        'Delete the row, or clear its id for a new lead.',
      ],
      'conflict.first-sight': ['The sides differed at first sight.', 'Decide, or set `onFirstSync`.'],
      'edit.conflict': [
        'A date moved by link or calendar met another value.',
        'Decide: `--use requested` writes it.',
      ],
      'edit.failed': ['The service refused a date moved by link or calendar.', 'Decide, or change it there.'],
      'edit.invalid': ['The requested value is no date.', 'Enter a date.'],
      'edit.many': [
        'One calendar moved very many dates at once.',
        'Look; `leadsync resolve --requested-by ADDRESS --use …` decides all.',
      ],
      'edit.not-allowed': ['This field does not travel to the service.', 'Change it in service or table.'],
      'lead.field-refused': [
        'The service refused, ignored or changed the value.',
        "Type another, or take the lead's.",
      ],
      'lead.put-back': ['The lead shows an earlier value again.', 'Decide.'],
      'lead.unmapped': ["`values` has no partner for the service's word.", 'Add it there, or `--use row`.'],
      'lead.unreadable': ["This field cannot hold the service's value.", 'Correct it there, or `--use row`.'],
      'row.company-name-empty': ['No company name.', "Type one, or take the lead's."],
      'row.garbled': ['The row shows the text in another encoding.', 'Save as UTF-8, or `--use lead`.'],
      'row.put-back': ['The row shows an earlier value again.', 'Decide.'],
      'row.unmapped': [
        "`values` has no partner for the table's word; a new row waits.",
        'Correct the cell, add it there, or `--use lead`.',
      ],
      'row.unreadable': [
        'A formula, an error, a date with two meanings …',
        'Type the value, a date as 2026-11-21 09:30.',
      ],
    },
  },
  {
    title: 'Rows',
    about: 'The row is left as it is, until it or its lead changes; others go on.',
    codes: {
      'row.apart': ['It stands apart, below an empty row.', 'Move it up if it is a lead.'],
      'row.archived': ["Its company is in HubSpot's recycle bin.", 'Restore it, or delete it for good.'],
      'row.changed': ['It was changed meanwhile; the next sync compares it.', nothing],
      'row.column-missing': [
        'A column is missing or doubled; nothing new is created.',
        'Write the heading back, or change `fields`.',
      ],
      'row.duplicate-id': ['An earlier row has this id.', 'Clear the id for a new lead, or delete it.'],
      'row.duplicated': ['Several rows have the id to write to.', 'Delete the copies.'],
      'row.exists': ['A row with this id is there; the next sync compares them.', nothing],
      'row.gone': ['It went away meanwhile; the next sync looks again.', nothing],
      'row.has-own-cells': ["To be removed, but with somebody's own cells.", 'Delete it by hand.'],
      'row.headings': ['It repeats the headings.', 'Delete it.'],
      'row.id-closed': [
        'The id of a new row cannot be written.',
        'Take formula or protection from the id column.',
      ],
      'row.id-lost': [
        'No id, but it shows a lead whose row is gone.',
        'Put the named id back, or change its values for a new lead.',
      ],
      'row.id-moved': ["It has another lead's id.", 'Put the ids back beside their rows.'],
      'row.id-unreadable': ['The id is a formula or an error.', 'Type the id, or clear the cell.'],
      'row.in-cell': ["A missing row's id stands in another cell.", 'Put the row back, or take the id out.'],
      'row.merged': [
        'Its record was merged into another.',
        'Delete one of the two leads, or part the records.',
      ],
      'row.deleted': [
        'With `onRowDeleted: ask`, the row of this lead was deleted.',
        '`resolve ID --use deleted`, or `restore`; or put the row back.',
      ],
      'row.moved': ["It stands in another connection's table.", 'Move it back, or delete one.'],
      'row.orphan': ['No lead has its id.', 'Delete it, or clear its id for a new lead.'],
      'row.paused': ['Somebody paused it meanwhile.', nothing],
      'row.too-large': [
        'Over a million characters in mapped fields.',
        'Shorten texts, or take the column out of `fields`.',
      ],
      'row.twin': [
        'New, and the same company as a row with a lead.',
        'Delete one; two companies: `--use row`.',
      ],
      'row.undone': ['An undo deleted its lead.', 'Change the row, or `--use row`.'],
      'row.without-id': ['`direction: to-target` makes no leads.', 'Set `two-way`, if it should be one.'],
    },
  },
  {
    title: 'Leads',
    about: 'The lead is left as it is; others go on.',
    codes: {
      'create.in-doubt': [
        'A create got no reply; the next scans look for it.',
        'Where several fit, delete the surplus lead.',
      ],
      'delete.dropped': ['A decision on a delete no longer fit.', 'What still waits is asked again.'],
      'delete.unproven': [
        'The table has no rows, which proves no deletion.',
        'Put the rows back, or delete the lead in the service.',
      ],
      'delete.waiting': [
        'This lead or row is deleted once it is missing for `proveAfter`.',
        'Put it back if that is wrong.',
      ],
      'lead.changed': ['It was changed meanwhile; the next sync compares it.', nothing],
      'lead.create-refused': [
        'The service refused the row as a lead.',
        'Correct the row; or `leadsync resolve ID --use row` sends it again.',
      ],
      'lead.deleted': [
        'With `onLeadDeleted: ask`, the lead of this row was deleted in the service.',
        '`leadsync resolve ID --use deleted` removes the row too, `--use restore` makes a new lead of it, in the second sync after that.',
      ],
      'lead.exists': [
        'A new row was answered with a lead that is there.',
        'Delete the row, or make it another lead.',
      ],
      'lead.gone': ['It went away meanwhile; the next sync looks again.', nothing],
      'lead.still-there': ['The list lacks it, but not its id; the next sync looks again.', nothing],
      'lead.too-large': [
        'Over a million characters in mapped fields.',
        'Shorten texts, or take the column out of `fields`.',
      ],
      'lead.unasked': [
        'The list lacks it, and the service did not say; the next sync asks again.',
        'The key may have to read single leads.',
      ],
      'lead.undone': ['An undo removed its row.', 'Change the lead, or `--use lead`.'],
      'match.ambiguous': [
        'A row may be several leads, or a lead several rows.',
        'See `leadsync conflicts`; `--use link` for one, `apart` for all.',
      ],
      'match.proposed': [
        'A new row may be a known lead.',
        'See `leadsync conflicts`; `--use link` or `apart`.',
      ],
    },
  },
  {
    title: 'What a report says of a run',
    about: '',
    codes: {
      'audit.unexplained': [
        'The sides differ, and leadsync does not know why.',
        'Please report it with the log.',
      ],
      'place.conflict-copies': [
        'A conflict copy lies beside the table.',
        'Take over what is missing; delete it.',
      ],
      'place.encoding': [
        'The encoding was guessed; the message shows a text.',
        'If that is wrong, save as "CSV UTF-8".',
      ],
      'place.first-sync': ["This table's first sync.", nothing],
      'place.moved': ["The sync goes on at the table's new place.", nothing],
      'place.shared': ['Two connections keep the same table.', 'Give each its own.'],
      'place.switched': ['The target is a former one; the sync goes on from there.', nothing],
      'plan.line-edited': ['A line of the plan was changed by hand.', plan],
      'plan.stale': ['What the plan saw is gone.', plan],
      'receipt.changed': ['A record was edited since; the next run compares it.', nothing],
      'receipt.unaccounted': ['The numbers of a run do not add up.', 'Please report it with the log.'],
      'receipt.unexplained': ['A confirmed write does not show.', 'Was an older copy saved over it?'],
      'undo.edited-since': ['Somebody edited the value after the run.', 'Change it by hand if need be.'],
      'undo.gone': ['The record is gone.', nothing],
      'undo.lead-deleted': ['A lead cannot come back under its id.', 'Make it anew.'],
      'undo.not-writable': ['The earlier value was a formula or unreadable.', 'Put it back by hand.'],
      'undo.nothing': ['The run wrote nothing.', 'See `leadsync status --runs`.'],
      'undo.other-place': ['The run wrote to another table.', 'Set the target back, then undo.'],
      'undo.paused': ['Its row is paused.', 'End the pause, then undo.'],
      'undo.row-exists': ['The removed row is there again.', nothing],
      'undo.written-since': ['A later run wrote the same.', 'Undo that one first.'],
    },
  },
];
