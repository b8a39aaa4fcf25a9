import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');

/** The second table of docs/architecture.md 5: what becomes of the edits of a known pair, field by field. */
export const editScenarios: readonly Scenario[] = [
  {
    title: 'a lead was edited: its row is written, the note beside it stays',
    steps: [
      { lead: 'acme', set: { stage: 'won' } },
      { sync: { exit: 0, plan: ['update-row acme stage: new → won (lead-edited)'], did: 'updated 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title: 'a row was edited: its lead is written',
    steps: [
      { row: 'bolt', set: { City: 'Graz', 'Next follow-up': '24.12.2031 15:30' } },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead bolt city: Wien → Graz, nextFollowUpAt: (empty) → 2031-12-24T15:30:00.000Z (row-edited)',
          ],
          did: 'updated 1 leads',
        },
      },
    ],
    end: {
      leads: [acme, change(bolt, { 2: 'Graz', 4: '2031-12-24T15:30:00.000Z' }), cord],
      rows: [acmeRow, change(boltRow, { 2: 'Graz', 4: '24.12.2031 15:30' }), cordRow],
    },
  },
  {
    title: 'both sides of one pair were edited in different fields: each edit reaches the other side',
    steps: [
      { lead: 'acme', set: { city: 'Bonn' } },
      { row: 'acme', set: { Stage: 'lost' } },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme stage: new → lost (row-edited)',
            'update-row acme city: Berlin → Bonn (lead-edited)',
          ],
          did: 'updated 1 leads 1 rows',
        },
      },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn', 3: 'lost' }), bolt, cord],
      rows: [change(acmeRow, { 2: 'Bonn', 3: 'lost' }), boltRow, cordRow],
    },
  },
  {
    title: 'both sides were given the same value: agreed in silence',
    steps: [
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'acme', set: { Stage: 'won' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { row: 'acme', set: { Stage: 'lost' } },
      {
        sync: { exit: 0, plan: ['update-lead acme stage: won → lost (row-edited)'], did: 'updated 1 leads' },
      },
    ],
    end: {
      leads: [change(acme, { 3: 'lost' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'lost' }), boltRow, cordRow],
    },
  },
  {
    title: 'both sides were edited differently: held, both values kept, the rest of the lead goes on',
    steps: [
      { lead: 'acme', set: { stage: 'won', city: 'Bonn' } },
      { row: 'acme', set: { Stage: 'lost' } },
      {
        sync: {
          exit: 3,
          plan: [
            'update-row acme city: Berlin → Bonn (lead-edited)',
            'hold acme stage: won ≠ lost (conflict.both-edited)',
          ],
          did: 'updated 1 rows',
          problems: ['conflict.both-edited acme stage'],
        },
      },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn', 3: 'won' }), bolt, cord],
      rows: [
        shows(change(acmeRow, { 2: 'Bonn', 3: 'lost' }), 'held: Stage was changed here and in the service'),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title: 'onConflict leads-win: the row takes the lead’s value',
    sync: { onConflict: 'leads-win' },
    steps: [
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'acme', set: { Stage: 'lost' } },
      { sync: { exit: 0, plan: ['update-row acme stage: lost → won (leads-win)'], did: 'updated 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title: 'onConflict target-wins: the lead takes the row’s value',
    sync: { onConflict: 'target-wins' },
    steps: [
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'acme', set: { Stage: 'lost' } },
      {
        sync: { exit: 0, plan: ['update-lead acme stage: won → lost (target-wins)'], did: 'updated 1 leads' },
      },
    ],
    end: {
      leads: [change(acme, { 3: 'lost' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'lost' }), boltRow, cordRow],
    },
  },
  {
    title: 'values were cleared on either side: the other side is cleared',
    steps: [
      { lead: 'acme', set: { nextFollowUpAt: null } },
      { row: 'cord', set: { 'Next follow-up': '', City: '' } },
      {
        sync: {
          exit: 0,
          plan: [
            'update-row acme nextFollowUpAt: 2031-01-05T09:00:00.000Z → (empty) (lead-edited)',
            'update-lead cord city: Köln → (empty), nextFollowUpAt: 2031-03-01T14:30:00.000Z → (empty) (row-edited)',
          ],
          did: 'updated 1 leads 1 rows',
        },
      },
    ],
    end: {
      leads: [change(acme, { 4: '' }), bolt, change(cord, { 2: '', 4: '' })],
      rows: [change(acmeRow, { 4: '' }), boltRow, change(cordRow, { 2: '', 4: '' })],
    },
  },
  {
    title: 'a date was typed anew in another form: the same moment, nothing to do',
    steps: [
      { row: 'acme', set: { 'Next follow-up': '05.01.2031 09:00' } },
      { row: 'cord', set: { 'Next follow-up': '2031-03-01 15:30 +01:00' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
    ],
    end: {
      leads: [acme, bolt, cord],
      rows: [
        change(acmeRow, { 4: '05.01.2031 09:00' }),
        boltRow,
        change(cordRow, { 4: '2031-03-01 15:30 +01:00' }),
      ],
    },
  },
  {
    title: 'direction to-target: a row’s edit is overwritten, a row without id is told',
    sync: { direction: 'to-target' },
    steps: [
      { row: 'acme', set: { Stage: 'lost' } },
      { lead: 'bolt', set: { city: 'Graz' } },
      { addRow: ' | Neu KG | Ulm | new | ' },
      {
        sync: {
          exit: 0,
          plan: [
            'update-row acme stage: lost → new (one-way)',
            'update-row bolt city: Wien → Graz (lead-edited)',
          ],
          did: 'updated 2 rows',
          problems: ['row.without-id row 5'],
        },
      },
    ],
    end: {
      leads: [acme, change(bolt, { 2: 'Graz' }), cord],
      rows: [
        acmeRow,
        change(boltRow, { 2: 'Graz' }),
        cordRow,
        shows(' | Neu KG | Ulm | new', 'held: new rows do not become leads here'),
      ],
    },
  },
  {
    title: 'direction to-leads: a lead’s edit is overwritten, a new lead gets no row',
    sync: { direction: 'to-leads' },
    steps: [
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'bolt', set: { City: 'Graz' } },
      { addLead: 'dorn | Dorn AG | Linz | new | ' },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme stage: won → new (one-way)',
            'update-lead bolt city: Wien → Graz (row-edited)',
          ],
          did: 'updated 2 leads',
        },
      },
    ],
    end: {
      leads: [acme, change(bolt, { 2: 'Graz' }), cord, 'dorn | Dorn AG | Linz | new'],
      rows: [acmeRow, change(boltRow, { 2: 'Graz' }), cordRow],
    },
  },
];
