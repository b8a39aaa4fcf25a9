import { acme, bolt, change, cord, row, type Scenario, shows } from './scenario.ts';

const leads = [acme, bolt, cord];
const rows = leads.map((line) => row(line));
const [acmeRow = '', boltRow = '', cordRow = ''] = rows;
const paused = (line: string): string => change(line, { 5: 'x' });
const pause = { set: { Notes: 'x' } };
const goOn = { set: { Notes: '' } };

/** The column of notes pauses the rows in which it says anything but no. */
const target = { pauseColumn: 'Notes' };
const given = { leads, rows };
const nothing = { sync: { exit: 0, plan: [], did: 'nothing' } } as const;

export const pauseScenarios: readonly Scenario[] = [
  {
    title: 'edits on both sides of a paused row wait, and meet when the pause ends',
    target,
    given,
    steps: [
      nothing,
      { row: 'acme', set: { Notes: 'x', Stage: 'won', Company: 'Acme AG' } },
      { lead: 'acme', set: { city: 'Bonn', companyName: 'Acme SE' } },
      nothing,
      nothing,
      { row: 'acme', ...goOn },
      {
        sync: {
          exit: 3,
          plan: [
            'update-lead acme stage: new → won (row-edited)',
            'update-row acme city: Berlin → Bonn (lead-edited)',
            'hold acme companyName: Acme SE ≠ Acme AG (conflict.both-edited)',
          ],
          did: 'updated 1 leads 1 rows',
          problems: ['conflict.both-edited acme companyName'],
        },
      },
    ],
    end: {
      leads: [change(acme, { 1: 'Acme SE', 2: 'Bonn', 3: 'won' }), bolt, cord],
      rows: [
        shows(
          change(acmeRow, { 1: 'Acme AG', 2: 'Bonn', 3: 'won' }),
          'held: Company was changed here and in the service',
        ),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title: 'what is held of a row leaves the list when the row is paused, and comes back with it',
    target,
    given,
    steps: [
      nothing,
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'acme', set: { Stage: 'lost' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
      { row: 'acme', ...pause },
      nothing,
      { status: { acme: 'held: Stage was changed here and in the service' } },
      { row: 'acme', ...goOn },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
      { resolve: 'acme.stage', use: 'row' },
      { row: 'acme', ...pause },
      nothing,
      { row: 'acme', set: { Notes: '', Stage: 'won' } },
      nothing,
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title:
      'the lead of a paused row is deleted: the row is marked when the pause is over, after proofs of its own',
    target,
    given,
    steps: [
      nothing,
      { removeLead: 'acme' },
      nothing,
      { row: 'acme', ...pause },
      nothing,
      nothing,
      { row: 'acme', ...goOn },
      nothing,
      { status: { acme: 'waiting: the service does not list this lead' } },
      { sync: { exit: 0, plan: ['mark-row acme (lead-deleted)'], did: 'updated 1 rows' } },
    ],
    end: { leads: [bolt, cord], rows: [shows(acmeRow, 'deleted today'), boltRow, cordRow] },
  },
  {
    title: 'no lead is made of a paused row, and none is matched with it',
    target,
    given,
    sync: { match: 'exact' },
    steps: [
      nothing,
      { addRow: ' | Echo | Ulm | new |  | x' },
      { addRow: ' | Fox | Ulm | new |  | x' },
      { addLead: 'fox | Fox | Ulm | new | ' },
      { sync: { exit: 0, did: 'created 1 rows' } },
      { row: 'Echo', ...goOn },
      { sync: { exit: 0, plan: ['create-lead row 5 (new-row)'], did: 'created 1 leads' } },
    ],
    end: {
      leads: [...leads, 'fox | Fox | Ulm | new', 'new1 | Echo | Ulm | new'],
      rows: [
        ...rows,
        'new1 | Echo | Ulm | new',
        shows(' | Fox | Ulm | new |  | x', 'no status'),
        'fox | Fox | Ulm | new',
      ],
    },
  },
  {
    title: 'a paused row that lost its id: its lead is neither deleted nor written into a second row',
    target,
    given,
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      nothing,
      { row: 'acme', set: { Notes: 'x', 'Lead ID': '' } },
      nothing,
      nothing,
      nothing,
      { row: 'Acme GmbH', ...goOn },
      { sync: { exit: 0, plan: ['link acme (id-lost)'], did: 'updated 1 rows' } },
    ],
    end: { leads, rows },
  },
  {
    title: 'of two rows with one id the first one counts, whichever is paused',
    target,
    given,
    steps: [
      nothing,
      { addRow: paused(change(acmeRow, { 3: 'lost' })) },
      { row: 'acme', set: { Stage: 'won' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
      { row: 'acme', ...pause },
      { lead: 'acme', set: { stage: 'new' } },
      nothing,
      { addRow: change(acmeRow, { 2: 'Bonn' }) },
      { sync: { exit: 3, did: 'nothing', problems: ['row.duplicate-id acme'] } },
    ],
    end: {
      leads,
      rows: [
        paused(change(acmeRow, { 3: 'won' })),
        boltRow,
        cordRow,
        shows(paused(change(acmeRow, { 3: 'won' })), 'no status'),
        shows(change(acmeRow, { 2: 'Bonn' }), 'held: an earlier row has this id'),
      ],
    },
  },
  {
    title: 'a paused row whose id nobody knows, or whose lead never was in step, waits as well',
    target,
    given: { leads: [...leads, 'dora | Dora | Ulm | new | '], rows },
    steps: [
      { row: 'cord', set: { 'Lead ID': 'dora', Notes: 'x' } },
      { addRow: 'zoe | Zoe | Ulm | new |  | x' },
      { sync: { exit: 0, did: 'created 1 rows' } },
      nothing,
      { row: 'dora', ...goOn },
      { removeRow: 'zoe' },
      {
        sync: {
          exit: 3,
          did: 'updated 1 leads',
          problems: [
            'conflict.first-sight dora companyName',
            'conflict.first-sight dora city',
            'conflict.first-sight dora stage',
          ],
        },
      },
    ],
    end: {
      leads: [...leads, 'dora | Dora | Ulm | new | 2031-03-01T14:30:00.000Z'],
      rows: [
        acmeRow,
        boltRow,
        shows(change(cordRow, { 0: 'dora' }), 'held: Company is different in the service (and 2 more)'),
        cordRow,
      ],
    },
  },
  {
    title: 'without the heading of the pauses nothing is done, on either side',
    target,
    given,
    steps: [
      nothing,
      { row: 'acme', set: { Stage: 'won' } },
      { lead: 'bolt', set: { stage: 'won' } },
      { file: 'Lead ID,Company,City,Stage,Next follow-up,Status\n' },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target.pause-column-missing'] } },
    ],
    unsettled: true,
    end: { leads: [acme, change(bolt, { 3: 'won' }), cord], rows: [] },
  },
];
