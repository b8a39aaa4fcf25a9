import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const leads = [acme, bolt, cord];
const inStepRows = [acmeRow, boltRow, cordRow];
const clearAll = ['acme', 'bolt', 'cord'].map((name) => ({ row: name, set: { 'Lead ID': '' } }));

/** Rows that lost their ids, or whose ids somebody wrote otherwise: no lead and no row is made twice. */
export const sameRowScenarios: readonly Scenario[] = [
  {
    title: 'all ids cleared: each is written back into its row, no lead and no row is made',
    steps: [
      ...clearAll,
      {
        sync: {
          exit: 0,
          plan: ['link acme (id-lost)', 'link bolt (id-lost)', 'link cord (id-lost)'],
          did: 'updated 3 rows',
        },
      },
    ],
    end: { leads, rows: inStepRows },
  },
  {
    title: 'ids cleared while their leads were edited: the row gets its id and the edit',
    steps: [
      { row: 'bolt', set: { 'Lead ID': '' } },
      { lead: 'bolt', set: { stage: 'won' } },
      { sync: { exit: 0, plan: ['link bolt (id-lost)'], did: 'updated 1 rows' } },
    ],
    end: {
      leads: [acme, change(bolt, { 3: 'won' }), cord],
      rows: [acmeRow, change(boltRow, { 3: 'won' }), cordRow],
    },
  },
  {
    title: 'a row cut and pasted at the end without its id is linked again',
    steps: [
      { removeRow: 'acme' },
      { addRow: change(acmeRow, { 0: '' }) },
      { sync: { exit: 0, plan: ['link acme (id-lost)'], did: 'updated 1 rows' } },
    ],
    end: { leads, rows: [boltRow, cordRow, acmeRow] },
  },
  {
    title: 'direction to-target: the row is linked again and not doubled',
    sync: { direction: 'to-target' },
    steps: [...clearAll, { sync: { exit: 0, did: 'updated 3 rows' } }],
    end: { leads, rows: inStepRows },
  },
  {
    title: 'direction to-leads: the row is linked again, no second lead is made',
    sync: { direction: 'to-leads' },
    steps: [...clearAll, { sync: { exit: 0, did: 'updated 3 rows' } }],
    end: { leads, rows: inStepRows },
  },
  {
    title:
      'id cleared and the name edited of a row with one field more, where it stood: held, no second lead',
    given: { leads: [acme, 'dorn | Dorn AG |  | new | '], rows: [acme, 'dorn | Dorn AG |  | new | '] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'dorn', set: { 'Lead ID': '' } },
      { row: 'Dorn AG', set: { Company: 'Dorn und Söhne AG' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 3'] } },
      { row: 'Dorn und Söhne AG', set: { 'Lead ID': 'dorn' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [acme, 'dorn | Dorn und Söhne AG |  | new | '],
      rows: [acme, 'dorn | Dorn und Söhne AG |  | new | '],
    },
  },
  {
    title:
      'id cleared and a field edited in one evening: held with the lead named, neither made nor written twice',
    steps: [
      { row: 'acme', set: { 'Lead ID': '' } },
      { row: 'Acme GmbH', set: { City: 'Bonn' } },
      {
        sync: {
          exit: 3,
          plan: ['hold row 2 (row.id-lost)'],
          did: 'nothing',
          problems: ['row.id-lost row 2'],
        },
      },
      { status: { 'Acme GmbH': 'held: its id is missing; it may belong to a lead' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { row: 'Acme GmbH', set: { 'Lead ID': 'acme' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn' }), bolt, cord],
      rows: [change(acmeRow, { 2: 'Bonn' }), boltRow, cordRow],
    },
  },
  {
    title: 'id cleared and the name corrected, in its place: held',
    steps: [
      { row: 'acme', set: { 'Lead ID': '' } },
      { row: 'Acme GmbH', set: { Company: 'Acme AG' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { row: 'Acme AG', set: { 'Lead ID': 'acme' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 1: 'Acme AG' }), bolt, cord],
      rows: [change(acmeRow, { 1: 'Acme AG' }), boltRow, cordRow],
    },
  },
  {
    title:
      'what is held for its id turns out to be another company: deleted, synced and added again it is a new lead',
    steps: [
      { row: 'acme', set: { 'Lead ID': '' } },
      { row: 'Acme GmbH', set: { City: 'Bonn' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { removeRow: 'Acme GmbH' },
      { sync: { exit: 0, plan: ['create-row acme (row-deleted)'], did: 'created 1 rows' } },
      { addRow: ' | Acme GmbH | Bonn | new | 2031-01-05T09:00:00.000Z' },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [...leads, change(acme, { 0: 'new1', 2: 'Bonn' })],
      rows: [boltRow, cordRow, acme, change(acme, { 0: 'new1', 2: 'Bonn' })],
    },
  },
  {
    title: 'two rows alike and one lead whose row is gone: both are held, nothing is made',
    steps: [
      { row: 'acme', set: { 'Lead ID': '' } },
      { addRow: change(acmeRow, { 0: '' }) },
      {
        sync: {
          exit: 3,
          plan: ['hold row 2 (row.id-lost)', 'hold row 5 (row.id-lost)'],
          did: 'nothing',
          problems: ['row.id-lost row 2', 'row.id-lost row 5'],
        },
      },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2', 'row.id-lost row 5'] } },
    ],
    end: {
      leads,
      rows: [change(acmeRow, { 0: '' }), boltRow, cordRow, change(acmeRow, { 0: '' })].map((line, at) =>
        at % 3 === 0 ? shows(line, 'held: its id is missing; it may belong to a lead') : line,
      ),
    },
  },
  {
    title: 'two leads alike and one row without id: held',
    given: { leads: [acme, change(acme, { 0: 'twin' })], rows: [acmeRow, change(acmeRow, { 0: 'twin' })] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'acme', set: { 'Lead ID': '' } },
      { removeRow: 'twin' },
      {
        sync: {
          exit: 3,
          plan: ['hold row 2 (row.id-lost)'],
          did: 'nothing',
          problems: ['row.id-lost row 2'],
        },
      },
    ],
    end: {
      leads: [acme, change(acme, { 0: 'twin' })],
      rows: [shows(change(acmeRow, { 0: '' }), 'held: its id is missing; it may belong to a lead')],
    },
  },
  {
    title: 'an id overwritten by junk: the row is held, the lead’s row is not written a second time',
    steps: [
      { row: 'bolt', set: { 'Lead ID': 'junk' } },
      { sync: { exit: 3, plan: ['hold junk (row.orphan)'], did: 'nothing', problems: ['row.orphan junk'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.orphan junk'] } },
      { row: 'junk', set: { 'Lead ID': '' } },
      { sync: { exit: 0, plan: ['link bolt (id-lost)'], did: 'updated 1 rows' } },
    ],
    end: { leads, rows: inStepRows },
  },
  {
    title: 'an id filled down over other rows: these are held, and not written a second time',
    steps: [
      { row: 'bolt', set: { 'Lead ID': 'acme' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme (row.duplicate-id)'],
          did: 'nothing',
          problems: ['row.duplicate-id acme'],
        },
      },
    ],
    end: {
      leads,
      rows: [acmeRow, shows(change(boltRow, { 0: 'acme' }), 'held: an earlier row has this id'), cordRow],
    },
  },
  {
    title: 'onRowDeleted delete-lead: a lead is not deleted while a row without id may be its row',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { row: 'acme', set: { 'Lead ID': '' } },
      { row: 'Acme GmbH', set: { City: 'Bonn' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.id-lost row 2'] } },
      { removeRow: 'Acme GmbH' },
      { sync: { exit: 0, did: 'nothing', problems: ['delete.waiting acme'] } },
      { sync: { exit: 0, plan: ['delete-lead acme (row-deleted)'], did: 'deleted 1 leads' } },
    ],
    end: { leads: [bolt, cord], rows: [boltRow, cordRow] },
  },
  {
    title: 'ids shifted down by one cell: the row that has none now is not made a second lead',
    steps: [
      { row: 'cord', set: { 'Lead ID': 'x' } },
      { row: 'bolt', set: { 'Lead ID': 'y' } },
      { row: 'acme', set: { 'Lead ID': '' } },
      { row: 'y', set: { 'Lead ID': 'acme' } },
      { row: 'x', set: { 'Lead ID': 'bolt' } },
      { addRow: 'cord |  |  |  | ' },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['row.id-moved acme', 'row.id-moved bolt', 'row.id-moved cord', 'row.id-lost row 2'],
        },
      },
    ],
    end: {
      leads,
      rows: [
        shows(change(acmeRow, { 0: '' }), 'held: its id is missing; it may belong to a lead'),
        shows(change(boltRow, { 0: 'acme' }), 'held: it shows the values of another lead'),
        shows(change(cordRow, { 0: 'bolt' }), 'held: it shows the values of another lead'),
        shows('cord', 'held: it shows the values of another lead'),
      ],
    },
  },
  {
    title: 'ids in capitals, in braces, as a urn: the same ids',
    steps: [
      { row: 'acme', set: { 'Lead ID': '{acme}' } },
      { row: 'bolt', set: { 'Lead ID': ' urn:uuid:bolt' } },
      { row: 'cord', set: { 'Lead ID': '^cord' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { row: '{acme}', set: { City: 'Bonn' } },
      { lead: 'cord', set: { stage: 'lost' } },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn' }), bolt, change(cord, { 3: 'lost' })],
      rows: [
        change(acmeRow, { 0: '{acme}', 2: 'Bonn' }),
        change(boltRow, { 0: 'urn:uuid:bolt' }),
        change(cordRow, { 0: '^cord', 3: 'lost' }),
      ],
    },
  },
  {
    title: 'two rows with one id in two spellings: the second is a duplicate',
    steps: [
      { addRow: change(acmeRow, { 0: '{acme}', 3: 'lost' }) },
      { sync: { exit: 3, did: 'nothing', problems: ['row.duplicate-id acme'] } },
    ],
    end: {
      leads,
      rows: [
        ...inStepRows,
        shows(change(acmeRow, { 0: '{acme}', 3: 'lost' }), 'held: an earlier row has this id'),
      ],
    },
  },
];
