import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const dorn = 'dorn | Dorn AG | Linz | new | 2031-02-02T08:00:00.000Z';

/** The first table of docs/architecture.md 5, from new leads and rows to first sights and strangers. */
export const pairScenarios: readonly Scenario[] = [
  {
    title: 'no file yet: it is made, with a row for each lead',
    given: { leads: [acme, bolt], rows: null },
    steps: [
      {
        sync: {
          exit: 0,
          plan: ['create-row acme (new-lead)', 'create-row bolt (new-lead)'],
          did: 'created 2 rows',
        },
      },
    ],
    end: { leads: [acme, bolt], rows: [acme, bolt] },
  },
  {
    title: 'a new lead gets a row, at the end',
    steps: [
      { addLead: dorn },
      { sync: { exit: 0, plan: ['create-row dorn (new-lead)'], did: 'created 1 rows' } },
    ],
    end: { leads: [acme, bolt, cord, dorn], rows: [acmeRow, boltRow, cordRow, dorn] },
  },
  {
    title: 'a new row becomes a lead, whose id is written into the row',
    steps: [
      { addRow: ' | Dorn AG | Linz | new | 2.2.2031 08:00 | from the fair' },
      { sync: { exit: 0, plan: ['create-lead row 5 (new-row)'], did: 'created 1 leads' } },
      { row: 'new1', set: { City: 'Graz' } },
      { lead: 'new1', set: { stage: 'won' } },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: {
      leads: [acme, bolt, cord, 'new1 | Dorn AG | Graz | won | 2031-02-02T08:00:00.000Z'],
      rows: [acmeRow, boltRow, cordRow, 'new1 | Dorn AG | Graz | won | 2.2.2031 08:00 | from the fair'],
    },
  },
  {
    title: 'the service stores a new row otherwise than it was sent: the row shows what is stored',
    service: { trimText: true, stages: ['new', 'won'] },
    given: { leads: [], rows: [' | Dorn AG | Linz |  |  | mine'] },
    steps: [{ sync: { exit: 0, plan: ['create-lead row 2 (new-row)'], did: 'created 1 leads' } }],
    end: { leads: ['new1 | Dorn AG | Linz | new'], rows: ['new1 | Dorn AG | Linz | new |  | mine'] },
  },
  {
    title: 'first sight of equal pairs: linked, nothing is written',
    given: { leads: [acme, bolt], rows: [acmeRow, boltRow] },
    steps: [{ sync: { exit: 0, plan: [], did: 'nothing' } }],
    end: { leads: [acme, bolt], rows: [acmeRow, boltRow] },
  },
  {
    title: 'first sight of different values: held field by field, an empty side takes the other’s value',
    given: {
      leads: [acme, bolt],
      rows: [change(acmeRow, { 2: 'Bonn', 4: '' }), change(boltRow, { 4: '2031-07-07' })],
    },
    steps: [
      {
        sync: {
          exit: 3,
          plan: [
            'update-row acme nextFollowUpAt: (empty) → 2031-01-05T09:00:00.000Z (fills-empty)',
            'hold acme city: Berlin ≠ Bonn (conflict.first-sight)',
            'update-lead bolt nextFollowUpAt: (empty) → 2031-07-07T00:00:00.000Z (fills-empty)',
          ],
          did: 'updated 1 leads 1 rows',
          problems: ['conflict.first-sight acme city'],
        },
      },
    ],
    end: {
      leads: [acme, change(bolt, { 4: '2031-07-07T00:00:00.000Z' })],
      rows: [
        shows(change(acmeRow, { 2: 'Bonn' }), 'held: City is different in the service'),
        change(boltRow, { 4: '2031-07-07' }),
      ],
    },
  },
  {
    title: 'onFirstSync leads-win',
    sync: { onFirstSync: 'leads-win' },
    given: { leads: [acme], rows: [change(acmeRow, { 2: 'Bonn' })] },
    steps: [
      { sync: { exit: 0, plan: ['update-row acme city: Bonn → Berlin (leads-win)'], did: 'updated 1 rows' } },
    ],
    end: { leads: [acme], rows: [acmeRow] },
  },
  {
    title: 'onFirstSync target-wins',
    sync: { onFirstSync: 'target-wins' },
    given: { leads: [acme], rows: [change(acmeRow, { 2: 'Bonn' })] },
    steps: [
      {
        sync: {
          exit: 0,
          plan: ['update-lead acme city: Berlin → Bonn (target-wins)'],
          did: 'updated 1 leads',
        },
      },
    ],
    end: { leads: [change(acme, { 2: 'Bonn' })], rows: [change(acmeRow, { 2: 'Bonn' })] },
  },
  {
    title: 'a row with the id of nobody is held; the others go on',
    steps: [
      { addRow: 'ghost | Ghost KG | Ulm | new | ' },
      { lead: 'acme', set: { stage: 'won' } },
      {
        sync: {
          exit: 3,
          plan: ['update-row acme stage: new → won (lead-edited)', 'hold ghost (row.orphan)'],
          did: 'updated 1 rows',
          problems: ['row.orphan ghost'],
        },
      },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [
        change(acmeRow, { 3: 'won' }),
        boltRow,
        cordRow,
        shows('ghost | Ghost KG | Ulm | new', 'held: no lead has this id'),
      ],
    },
  },
  {
    title: 'a row was copied with its id and edited: the first counts, the copy is held and never written',
    steps: [
      { addRow: change(acmeRow, { 3: 'lost' }) },
      { lead: 'acme', set: { city: 'Bonn' } },
      {
        sync: {
          exit: 3,
          plan: ['update-row acme city: Berlin → Bonn (lead-edited)', 'hold acme (row.duplicate-id)'],
          did: 'updated 1 rows',
          problems: ['row.duplicate-id acme'],
        },
      },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn' }), bolt, cord],
      rows: [
        change(acmeRow, { 2: 'Bonn' }),
        boltRow,
        cordRow,
        shows(change(acmeRow, { 3: 'lost' }), 'held: an earlier row has this id'),
      ],
    },
  },
  {
    title: 'the copy’s id was cleared: it becomes a lead of its own',
    steps: [
      { addRow: change(acmeRow, { 0: '', 1: 'Acme Zwei' }) },
      { sync: { exit: 0, plan: ['create-lead row 5 (new-row)'], did: 'created 1 leads' } },
    ],
    end: {
      leads: [acme, bolt, cord, change(acme, { 0: 'new1', 1: 'Acme Zwei' })],
      rows: [acmeRow, boltRow, cordRow, change(acmeRow, { 0: 'new1', 1: 'Acme Zwei' })],
    },
  },
  {
    title: 'two identical new rows become two leads, not more',
    given: { leads: [], rows: [' | Echo | Ulm | new |  | one', ' | Echo | Ulm | new |  | two'] },
    steps: [
      {
        sync: {
          exit: 0,
          plan: ['create-lead row 2 (new-row)', 'create-lead row 3 (new-row)'],
          did: 'created 2 leads',
        },
      },
    ],
    end: {
      leads: ['new1 | Echo | Ulm | new', 'new2 | Echo | Ulm | new'],
      rows: ['new1 | Echo | Ulm | new |  | one', 'new2 | Echo | Ulm | new |  | two'],
    },
  },
];
