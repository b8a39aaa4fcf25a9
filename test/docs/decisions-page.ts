import { createTable } from './create-table.ts';
import { exceptionsTable, fieldTable } from './field-table.ts';
import { newRowTable } from './new-row-table.ts';
import { pairTable } from './pair-table.ts';

/** docs/decisions.md: every decision of src/core/merge, computed by the code that decides. */
export function decisionsPage(): string {
  return `# What leadsync does when

Every decision of a sync, asked of the deciding code in \`src/core/merge\` by \`npm run docs\`. In words: [edits.md](edits.md).

- **agreed**: what both sides last showed alike, the baseline; "–": nothing yet.
- **two-way**, **to-target**, **to-leads**: the direction, a field's own where it is narrower. An empty
  cell: as two-way.
- An entry is the action as \`leadsync plan\` shows it, with its reason; where a setting decides, for each of its values.

What was edited meanwhile is put off. A row is marked or removed only when the service answers "not found", a lead deleted
only while it shows what the plan saw.

## One lead id

"Missed" counts complete scans of different runs in a row, the last at least \`sync.proveAfter\` after the first; one that was filtered, torn or empty does not count. A missed
lead whose row is edited, and an unknown id, was asked for by its id and is gone; else the row is held (lead.unasked).
"Told": its row was marked in an earlier run. An unreadable cell counts as edited. "delete.waiting": the run names what
the next one deletes. With \`proveAfter\` above 0m a row that
is missed once is not written again, but reported so.

${pairTable()}
Of several rows with one id the first counts; the others are held (row.duplicate-id).

## Field by field

"lead → row": the row gets the lead's value, its own goes into the history; "row → lead": the other way round. "agree":
nothing is written, and the value is the baseline. "hold": both stay until somebody decides or they are equal.

${fieldTable()}
Other fields travel meanwhile. A field whose column is missing is left out on both sides, and nothing is created, unless it
only travels to the target.

### The company name

A lead without a name is not sent. Only these lines differ:

${exceptionsTable({ field: 'companyName' })}
### After \`leadsync resolve --use lead\`

A decision counts while both sides show what they showed then. Only these lines differ:

${exceptionsTable({ field: 'stage', memo: { resolution: 'lead' } })}
### After \`leadsync resolve --use row\`

${exceptionsTable({ field: 'stage', memo: { resolution: 'target' } })}
### After the service refused the row's value

Until one of the sides shows something else, only these lines differ:

${exceptionsTable({ field: 'stage', memo: { refused: true } })}
## A row without an id

"report": nothing is made of it.

${newRowTable()}
An unreadable cell of a new row or lead is held beside the create (row.unreadable, lead.unreadable). So is a word without a partner in \`values\`
(row.unmapped, lead.unmapped), but a new row with one waits.

## What an undo took away

It does not come back by itself: the row of a deleted lead (row.undone), the lead of a removed row (lead.undone) is held until
it changes in the fields that it shows, \`leadsync resolve ID\` has the other one made, or two complete scans miss it.

## A create whose reply did not say which lead it made

The reply was lost, or confirmed a lead without its id. "The same": it shows all that was sent. "Alike": the same name and two thirds of what was sent, but for
case, spaces, a cut end, a fraction of a second. A scan proves nothing when filtered or empty, or begun while the service
may still have been at work. **found**: the row gets the id. **again**: it was not made; the row is new. **ambiguous**: a
person says which. **unrecognised**: it was made, but none looks like it; a person is asked.

${createTable()}`;
}
