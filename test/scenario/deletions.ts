import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const dorn = 'dorn | Dorn AG | Linz | new | ';
const notListed = 'waiting: the service does not list this lead';
const outside = "outside: this table's filter does not show this lead any more";
const waiting = {
  sync: { exit: 0, plan: [], did: 'nothing', problems: ['delete.waiting acme'] },
} as const;
const editMeetsDelete = {
  sync: {
    exit: 3,
    plan: ['hold acme stage: (empty) ≠ won (conflict.edit-meets-delete)'],
    did: 'nothing',
    problems: ['conflict.edit-meets-delete acme stage'],
  },
} as const;
const asked = (name: string, side: 'row' | 'lead', ...before: readonly string[]) =>
  ({
    sync: {
      exit: 3,
      plan: [`hold ${name} (${side}.deleted)`],
      did: 'nothing',
      problems: [...before, `${side}.deleted ${name}`],
    },
  }) as const;
const quiet = { sync: { exit: 0, plan: [], did: 'nothing' } } as const;
const others = { leads: [bolt, cord], rows: [boltRow, cordRow] };

/** The rows of docs/architecture.md 5 in which one side is gone: nothing is deleted on a doubt, and an edit beats a delete. */
export const deletionScenarios: readonly Scenario[] = [
  {
    title: 'a lead was deleted: one scan without it proves nothing, after the second the row is marked',
    steps: [
      { removeLead: 'acme' },
      quiet,
      { status: { acme: notListed, bolt: 'in step' } },
      { sync: { exit: 0, plan: ['mark-row acme (lead-deleted)'], did: 'updated 1 rows' } },
    ],
    end: { leads: others.leads, rows: [`${acmeRow} | deleted today`, boltRow, cordRow] },
  },
  {
    title: 'onLeadDeleted keep: the row stays as it is',
    sync: { onLeadDeleted: 'keep' },
    steps: [{ removeLead: 'acme' }, quiet, quiet, quiet],
    end: { leads: others.leads, rows: [shows(acmeRow, notListed), boltRow, cordRow] },
  },
  {
    title: 'onLeadDeleted remove: the row goes after two scans, and the first says so',
    sync: { onLeadDeleted: 'remove' },
    steps: [
      { removeLead: 'acme' },
      waiting,
      { sync: { exit: 0, plan: ['remove-row acme (lead-deleted)'], did: 'deleted 1 rows' } },
    ],
    // What people have put into a column of their own stays.
    end: { leads: others.leads, rows: [' |  |  |  |  | call Anna | no status', ...others.rows] },
  },
  {
    title: 'a lead that two scans missed but that still answers is not gone: nothing is deleted',
    sync: { onLeadDeleted: 'remove' },
    // Pages that hold one lead of three and end: complete scans, as far as one can see.
    service: {},
    steps: [
      { removeLead: 'acme' },
      waiting,
      { addLead: acme },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { removeLead: 'acme' },
      waiting,
    ],
    end: { leads: others.leads, rows: [shows(acmeRow, notListed), boltRow, cordRow] },
    unsettled: true,
  },
  {
    title: 'a filtered scan proves nothing',
    query: { stage: 'new' },
    given: { leads: [acme], rows: [acmeRow] },
    steps: [
      quiet,
      { lead: 'acme', set: { stage: 'won' } },
      { addLead: dorn },
      { sync: { exit: 0, did: 'created 1 rows' } },
      quiet,
      quiet,
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), 'dorn | Dorn AG | Linz | new'],
      rows: [shows(acmeRow, outside), 'dorn | Dorn AG | Linz | new'],
    },
  },
  {
    title: 'a torn scan proves nothing',
    service: { maxLimit: 2, repeatItems: 1 },
    given: { leads: [acme, bolt, cord, dorn], rows: [acmeRow, boltRow, cordRow, dorn] },
    steps: [quiet, { removeLead: 'acme' }, quiet, quiet, quiet],
    end: { leads: [bolt, cord, dorn], rows: [acmeRow, boltRow, cordRow, dorn] },
  },
  {
    title: 'edit meets delete: the row was edited and its lead deleted: held, the edit stays',
    steps: [
      { removeLead: 'acme' },
      { row: 'acme', set: { Stage: 'won' } },
      ...Array.from({ length: 3 }, () => editMeetsDelete),
    ],
    end: {
      leads: others.leads,
      rows: [
        shows(change(acmeRow, { 3: 'won' }), 'held: the lead was deleted, but this row was changed'),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title: 'a row that was marked and then edited is held; a lead that comes back takes the edit',
    steps: [
      { removeLead: 'acme' },
      quiet,
      { sync: { exit: 0, did: 'updated 1 rows' } },
      { row: 'acme', set: { Stage: 'won' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.edit-meets-delete acme stage'] } },
      { status: { acme: 'held: the lead was deleted, but this row was changed' } },
      { addLead: acme },
      { sync: { exit: 0, plan: ['update-lead acme stage: new → won (row-edited)'], did: 'updated 1 leads' } },
    ],
    end: {
      leads: [bolt, cord, change(acme, { 3: 'won' })],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title: 'a row was deleted: it is written again',
    steps: [
      { removeRow: 'acme' },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted)'], did: 'created 1 rows' } },
    ],
    end: { leads: [acme, bolt, cord], rows: [boltRow, cordRow, acme] },
  },
  {
    title: 'onRowDeleted ignore: the lead stays without a row, until it is edited',
    sync: { onRowDeleted: 'ignore' },
    steps: [
      { removeRow: 'acme' },
      quiet,
      quiet,
      { lead: 'acme', set: { stage: 'won' } },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted-but-lead-edited)'], did: 'created 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [boltRow, cordRow, change(acme, { 3: 'won' })],
    },
  },
  {
    title: 'onRowDeleted delete-lead: only after two scans without the row, and the first says so',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      { sync: { exit: 0, plan: ['delete-lead acme (row-deleted)'], did: 'deleted 1 leads' } },
    ],
    end: others,
  },
  {
    title: 'onRowDeleted delete-lead: scans before the lead had a row count for nothing',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { addLead: 'dora | Dora AG | Bonn | new | ' },
      { sync: { exit: 0, did: 'created 1 rows' } },
      { removeRow: 'dora' },
      { sync: { exit: 0, plan: [], did: 'nothing', problems: ['delete.waiting dora'] } },
      { sync: { exit: 0, plan: ['delete-lead dora (row-deleted)'], did: 'deleted 1 leads' } },
    ],
    end: { leads: [acme, bolt, cord], rows: [acmeRow, boltRow, cordRow] },
  },
  {
    title: 'onRowDeleted delete-lead, and the lead was edited: the row is written again',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      { lead: 'acme', set: { stage: 'won' } },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted-but-lead-edited)'], did: 'created 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [boltRow, cordRow, change(acme, { 3: 'won' })],
    },
  },
  {
    title: 'onRowDeleted delete-lead, and the file is gone: no lead is deleted, however often',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { file: null },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target-gone'] } },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target-gone'] } },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          putOff: 3,
          problems: ['delete.unproven acme', 'delete.unproven bolt', 'delete.unproven cord'],
        },
        allow: ['target-gone'],
      },
    ],
    end: { leads: [acme, bolt, cord], rows: [] },
  },
  {
    title:
      'a row is cut at ten and pasted at twenty past, with a sync every five minutes: nothing is deleted',
    sync: { onRowDeleted: 'delete-lead', proveAfter: '6h' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      { minutes: 5 },
      waiting,
      { minutes: 5 },
      waiting,
      { minutes: 5 },
      waiting,
      { addRow: acmeRow },
      quiet,
      { removeRow: 'acme' },
      // The first absence counts anew.
      { minutes: 360 },
      waiting,
    ],
    end: { leads: [acme, bolt, cord], rows: [boltRow, cordRow] },
    unsettled: true,
  },
  {
    title:
      'a row is on the clipboard for ten minutes, with a sync every five, and its lead edited: it is not written again meanwhile',
    sync: { proveAfter: '6h' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      { minutes: 5 },
      { lead: 'acme', set: { stage: 'won' } },
      waiting,
      { minutes: 5 },
      { addRow: acmeRow },
      { sync: { exit: 0, plan: ['update-row acme stage: new → won (lead-edited)'], did: 'updated 1 rows' } },
      { removeRow: 'acme' },
      waiting,
      { minutes: 360 },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted)'], did: 'created 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      // What was written beside it by hand went with the row.
      rows: [boltRow, cordRow, change(acme, { 3: 'won' })],
    },
  },
  {
    title: 'a row is missing for six hours: its lead is deleted by the first sync after them',
    sync: { onRowDeleted: 'delete-lead', proveAfter: '6h' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      { minutes: 355 },
      waiting,
      { minutes: 5 },
      { sync: { exit: 0, plan: ['delete-lead acme (row-deleted)'], did: 'deleted 1 leads' } },
    ],
    end: others,
  },
  {
    title:
      'a lead is missing in the lists of an hour, and back: its row stays; missing for six, the row goes',
    sync: { onLeadDeleted: 'remove', proveAfter: '6h' },
    steps: [
      { removeLead: 'acme' },
      waiting,
      { minutes: 60 },
      waiting,
      { addLead: acme },
      quiet,
      { removeLead: 'acme' },
      waiting,
      { minutes: 300 },
      waiting,
      { minutes: 60 },
      { sync: { exit: 0, plan: ['remove-row acme (lead-deleted)'], did: 'deleted 1 rows' } },
    ],
    end: { leads: others.leads, rows: [' |  |  |  |  | call Anna | no status', ...others.rows] },
  },
  {
    title: 'a row whose lead is missing is marked when six hours have passed, not by a second sync at once',
    sync: { proveAfter: '6h' },
    steps: [
      { removeLead: 'acme' },
      quiet,
      quiet,
      { status: { acme: notListed } },
      { minutes: 360 },
      { sync: { exit: 0, plan: ['mark-row acme (lead-deleted)'], did: 'updated 1 rows' } },
    ],
    end: { leads: others.leads, rows: [`${acmeRow} | deleted today`, boltRow, cordRow] },
  },
  {
    title:
      'onRowDeleted ask: nothing is written while it waits, and it goes by itself when the row comes back',
    sync: { onRowDeleted: 'ask' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      asked('acme', 'row'),
      asked('acme', 'row'),
      // An edit of the lead is no answer.
      { lead: 'acme', set: { stage: 'won' } },
      asked('acme', 'row'),
      { addRow: acmeRow },
      { sync: { exit: 0, plan: ['update-row acme stage: new → won (lead-edited)'], did: 'updated 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [boltRow, cordRow, change(acmeRow, { 3: 'won' })],
    },
  },
  {
    title: 'onRowDeleted ask: restored',
    sync: { onRowDeleted: 'ask' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      asked('acme', 'row'),
      { resolve: 'acme.', use: 'restore' },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted)'], did: 'created 1 rows' } },
    ],
    end: { leads: [acme, bolt, cord], rows: [boltRow, cordRow, acme] },
  },
  {
    title: 'onRowDeleted ask: deleted, unless the lead was edited after the answer; then it asks once more',
    sync: { onRowDeleted: 'ask' },
    steps: [
      { removeRow: 'acme' },
      waiting,
      asked('acme', 'row'),
      { resolve: 'acme.', use: 'deleted' },
      { lead: 'acme', set: { stage: 'won' } },
      asked('acme', 'row', 'delete.dropped acme'),
      { resolve: 'acme.', use: 'deleted' },
      { sync: { exit: 0, plan: ['delete-lead acme (row-deleted)'], did: 'deleted 1 leads' } },
    ],
    end: others,
  },
  {
    title: 'onRowDeleted ask, many rows: the limit of deletes counts what was answered, not what is asked',
    sync: { onRowDeleted: 'ask', limits: { maxDeletes: 0 } },
    steps: [
      { removeRow: 'acme' },
      waiting,
      asked('acme', 'row'),
      { resolve: 'acme.', use: 'deleted' },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.max-deletes', 'row.deleted acme'] } },
      { sync: { exit: 0, did: 'deleted 1 leads' }, allow: ['max-deletes'] },
    ],
    end: others,
  },
  {
    title: 'onRowDeleted ask, and the file is gone: nobody is asked, and nothing is deleted',
    sync: { onRowDeleted: 'ask' },
    steps: [
      { file: null },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target-gone'] } },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          putOff: 3,
          problems: ['delete.unproven acme', 'delete.unproven bolt', 'delete.unproven cord'],
        },
        allow: ['target-gone'],
      },
    ],
    end: { leads: [acme, bolt, cord], rows: [] },
  },
  {
    title: 'onLeadDeleted ask: deleted, and the row goes',
    sync: { onLeadDeleted: 'ask' },
    steps: [
      { removeLead: 'acme' },
      waiting,
      asked('acme', 'lead'),
      { status: { acme: 'held: its lead was deleted; somebody has to decide (leadsync conflicts)' } },
      { resolve: 'acme.', use: 'deleted' },
      { sync: { exit: 0, plan: ['remove-row acme (lead-deleted)'], did: 'deleted 1 rows' } },
    ],
    end: { leads: others.leads, rows: [' |  |  |  |  | call Anna | no status', ...others.rows] },
  },
  {
    title: 'onLeadDeleted ask: restored, as a new lead of the row',
    sync: { onLeadDeleted: 'ask' },
    steps: [
      { removeLead: 'acme' },
      waiting,
      asked('acme', 'lead'),
      { resolve: 'acme.', use: 'restore' },
      { sync: { exit: 0, plan: ['unlink acme (lead-restored)'], did: 'updated 1 rows' } },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [bolt, cord, change(acme, { 0: 'new1' })],
      rows: [change(acmeRow, { 0: 'new1' }), boltRow, cordRow],
    },
  },
  {
    title: 'onLeadDeleted ask: it goes when the lead comes back, and an edit of the row is held as ever',
    sync: { onLeadDeleted: 'ask' },
    steps: [
      { removeLead: 'acme' },
      waiting,
      asked('acme', 'lead'),
      { addLead: acme },
      quiet,
      { removeLead: 'acme' },
      waiting,
      { row: 'acme', set: { Stage: 'won' } },
      editMeetsDelete,
    ],
    end: {
      leads: others.leads,
      rows: [
        shows(change(acmeRow, { 3: 'won' }), 'held: the lead was deleted, but this row was changed'),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title: 'gone on both sides: forgotten',
    steps: [{ removeLead: 'acme' }, { removeRow: 'acme' }, quiet, quiet, quiet],
    end: others,
  },
];
