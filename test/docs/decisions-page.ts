import { createTable, twinTable } from './create-table.ts';
import { exceptionsTable, fieldTable } from './field-table.ts';
import { newRowTable } from './new-row-table.ts';
import { pairTable } from './pair-table.ts';

/** docs/decisions.md: every decision of src/core/merge, computed by the code that decides. */
export function decisionsPage(): string {
  return `# What leadsync does when

Every decision that a sync takes about a lead, a row and each of their fields. \`npm run docs\` writes the tables: it calls the
deciding code (\`planPair\`, \`mergeField\`, \`planNewRow\` and \`matchLostCreates\` in \`src/core/merge\`) with every combination, and a test fails
when this page and the code differ. The same in words: [edits.md](edits.md).

How to read them:

- **agreed** is what both sides last showed alike, the baseline. "–": they never did.
- **two-way**, **to-target** and **to-leads** are the directions. A field's own direction counts where it is narrower.
- An entry is the kind of the action as \`leadsync plan\` shows it, and its reason in brackets. Where a setting decides,
  the entry names it and has a line for each of its values. All other settings make no difference there.
- Lines with the same entries are joined: "missed once or missed twice". "any" stands for every value there is.

Before anything is written, the plan as a whole passes the guard (\`limits\`), and each lead and row is read once more:
what was edited meanwhile is put off to the next run. A row is marked or removed only when the service also answers
"not found" for its lead, and a lead is deleted only when it still shows what the plan saw.

## One lead id

"Missed once" and "missed twice" count complete scans of different runs, the last at least \`sync.proveAfter\` after the first. A scan that was filtered,
torn or empty does not count, so nothing follows from it. A missed lead whose row is edited, or of an unknown id, was asked for
by its id and is gone; while the service does not say so, the row is held (lead.unasked). "Told before": the row was marked in an earlier run. "Edited":
at least one field is not as agreed; a cell that cannot be read counts as edited. "delete.waiting": nothing is done, and the
run reports what is going to be deleted.

${pairTable()}
Of several rows with one id the first is taken; each of the others is held (row.duplicate-id) and never written.

## Field by field

Both sides are there. "lead → row": the row gets the lead's value, and the row's own goes into the history. "row → lead":
the other way round. "agree": nothing is written, the value is the baseline from now on. "hold": both keep what they have
until somebody decides or both are equal. Empty is a value like any other once something was agreed.

${fieldTable()}
Conflict fields wait alone: the other fields of the lead travel. A field whose column is missing is left out on both sides,
and nothing is created meanwhile, unless the field only travels to the target.

### The company name

A lead without a name is not sent. Only these lines differ from the table above:

${exceptionsTable({ field: 'companyName' })}
### After \`leadsync resolve --use lead\`

A decision counts while both sides show what they showed then. Only these lines differ:

${exceptionsTable({ field: 'stage', memo: { resolution: 'lead' } })}
### After \`leadsync resolve --use row\`

${exceptionsTable({ field: 'stage', memo: { resolution: 'target' } })}
### After the service refused the row's value

It is not sent again until one of the sides shows something else. Only these lines differ:

${exceptionsTable({ field: 'stage', memo: { refused: true } })}
## A row without an id

It becomes a lead when there is a name to send, and gets the id of that lead. "report": the row is reported and nothing is made of it.

${newRowTable()}
A cell of the row that cannot be read is held (row.unreadable) beside the create; so is one of a new lead (lead.unreadable).

## What an undo took away

It does not come back by itself. A row whose lead an undo deleted is held (row.undone), a lead whose row it took away too
(lead.undone), until that record changes or \`leadsync resolve ID\` has it made (\`--use row\`: the lead, of the row; \`--use lead\`:
the row, of the lead). It is compared by the fields that it shows, so a column that is missing releases nothing, nor does one
scan that misses it; two complete scans do.

## A create whose reply did not say which lead it made

The reply to a POST was lost, or it confirmed a new lead and not its id ("confirmed"). The row is left alone until later
scans tell what became of it. "Resembles": the same name and two thirds of what was sent, but for case, spaces, an end that
was cut off or a fraction of a second. A scan proves nothing when it was filtered or empty, or began while the service may
still have been at work.

- **found**: the lead is there, and the row gets its id.
- **wait**: nothing is done in this run.
- **again**: it was certainly not made; the row is new.
- **ambiguous**: a person says which lead it is, if any.
- **unrecognised**: the service said that it made one, but none looks like it; a person is asked.

${createTable()}
### Two of them at once, of the same name

${twinTable()}`;
}
