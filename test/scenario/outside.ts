import { parseFaults } from '../../src/demo/faults.ts';
import { acme, change, idOf, row, type Scenario, shows } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const dorn = 'dorn | Dorn AG | Linz | new | ';
const outside = "outside: this table's filter does not show this lead any more";
const quiet = { sync: { exit: 0, plan: [], did: 'nothing' } } as const;
const won = change(acme, { 3: 'won' });
const given = { leads: [acme, dorn], rows: [acmeRow, dorn] };
const open = { query: { stage: 'new' }, given };
const leftOut = { service: { listedAs: new Map([[idOf('acme'), null]]) } };

/** Leads that the list does not show: each is asked for by its id before anything is said or done about it. */
export const outsideScenarios: readonly Scenario[] = [
  {
    title:
      'the filter hides a lead: its row says so, an edit of it arrives, and it is in step again when the list shows it',
    ...open,
    steps: [
      quiet,
      { lead: 'acme', set: { stage: 'won' } },
      quiet,
      { status: { acme: outside, dorn: 'in step' } },
      { row: 'acme', set: { City: 'Bonn' } },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme city: Berlin → Bonn (row-edited)',
            'update-row acme stage: new → won (lead-edited)',
          ],
          did: 'updated 1 leads 1 rows',
        },
      },
      { status: { acme: outside } },
      quiet,
      { lead: 'acme', set: { stage: 'new' } },
      { sync: { exit: 0, plan: ['update-row acme stage: won → new (lead-edited)'], did: 'updated 1 rows' } },
      { status: { acme: 'in step' } },
    ],
    end: { leads: [change(acme, { 2: 'Bonn' }), dorn], rows: [change(acmeRow, { 2: 'Bonn' }), dorn] },
  },
  {
    title: 'the filter hides a lead that was edited on both sides: a conflict as of any other lead',
    ...open,
    steps: [
      quiet,
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'acme', set: { Stage: 'lost' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme stage: won ≠ lost (conflict.both-edited)'],
          did: 'nothing',
          problems: ['conflict.both-edited acme stage'],
        },
      },
      { resolve: 'acme.stage', use: 'row' },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 3: 'lost' }), dorn],
      rows: [shows(change(acmeRow, { 3: 'lost' }), outside), dorn],
    },
  },
  {
    title:
      'the filter hides a lead that is deleted: an edited row is held; its values become a new lead when its id is cleared',
    ...open,
    steps: [
      quiet,
      { removeLead: 'acme' },
      quiet,
      { status: { acme: outside } },
      { row: 'acme', set: { City: 'Bonn' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme city: (empty) ≠ Bonn (conflict.edit-meets-delete)'],
          did: 'nothing',
          problems: ['conflict.edit-meets-delete acme city'],
        },
      },
      { row: 'acme', set: { 'Lead ID': '' } },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [dorn, change(acme, { 0: 'new1', 2: 'Bonn' })],
      rows: [change(acmeRow, { 0: 'new1', 2: 'Bonn' }), dorn],
    },
  },
  {
    title: 'the filter hides a lead that is deleted, its edited row is put back as it was: gone by the rules',
    ...open,
    sync: { onLeadDeleted: 'mark' },
    steps: [
      quiet,
      { removeLead: 'acme' },
      { row: 'acme', set: { City: 'Bonn' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.edit-meets-delete acme city'] } },
      { row: 'acme', set: { City: 'Berlin' } },
      { sync: { exit: 0, plan: ['mark-row acme (lead-deleted)'], did: 'updated 1 rows' } },
      quiet,
    ],
    end: { leads: [dorn], rows: [`${acmeRow} | deleted today`, dorn] },
  },
  {
    title:
      'a row of a lead outside of the filter is removed: the lead stays, also when the list shows it again',
    ...open,
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      quiet,
      { lead: 'acme', set: { stage: 'won' } },
      quiet,
      { removeRow: 'acme' },
      quiet,
      quiet,
      quiet,
      { lead: 'acme', set: { stage: 'new' } },
      { sync: { exit: 0, plan: [], did: 'nothing', problems: ['delete.waiting acme'] } },
    ],
    end: { leads: [acme, dorn], rows: [dorn] },
    unsettled: true,
  },
  {
    title: 'a row with the id of a lead that the filter hides: a first sight',
    query: { stage: 'new' },
    given: { leads: [won, dorn], rows: [change(acmeRow, { 3: 'won', 2: '' }), dorn] },
    steps: [
      {
        sync: {
          exit: 0,
          plan: ['update-row acme city: (empty) → Berlin (fills-empty)'],
          did: 'updated 1 rows',
        },
      },
      { status: { acme: outside } },
      quiet,
    ],
    end: { leads: [won, dorn], rows: [shows(change(acmeRow, { 3: 'won' }), outside), dorn] },
  },
  {
    title:
      'a list that leaves a lead out, again and again: an edited row arrives, and nothing is said of a deletion',
    given,
    steps: [
      quiet,
      leftOut,
      { row: 'acme', set: { Stage: 'won' } },
      { sync: { exit: 0, plan: ['update-lead acme stage: new → won (row-edited)'], did: 'updated 1 leads' } },
      quiet,
      { row: 'acme', set: { City: 'Bonn' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
      { service: { listedAs: new Map() } },
      quiet,
    ],
    end: {
      leads: [change(won, { 2: 'Bonn' }), dorn],
      rows: [change(acmeRow, { 2: 'Bonn', 3: 'won' }), dorn],
    },
  },
  {
    title: 'a list that leaves a lead out, and its row is typed in: a lead as any other, no orphan',
    given: { leads: [acme, dorn], rows: [acmeRow, dorn] },
    service: leftOut.service,
    steps: [quiet],
    end: given,
    // From the next scan on the status says that the list does not show it.
    unsettled: true,
  },
  {
    title: 'ids that nobody has, or that are none, are held once the service has said so',
    given,
    steps: [
      { addRow: 'ghost | Ghost KG | Ulm | new | ' },
      {
        sync: { exit: 3, plan: ['hold ghost (row.orphan)'], did: 'nothing', problems: ['row.orphan ghost'] },
      },
    ],
    end: {
      leads: given.leads,
      rows: [...given.rows, shows('ghost | Ghost KG | Ulm | new | ', 'held: no lead has this id')],
    },
  },
  ...(
    [
      ['answers 500', parseFaults('500:on=get')],
      ['takes no request by id', parseFaults('400:on=get')],
      ['forbids requests by id', parseFaults('403:on=get')],
    ] as const
  ).map(
    ([what, faults]): Scenario => ({
      title: `the service ${what}: nothing is said of a deletion, the rest goes on, and the edit arrives later`,
      ...open,
      steps: [
        quiet,
        { lead: 'acme', set: { stage: 'won' } },
        { row: 'acme', set: { City: 'Bonn' } },
        { addRow: 'ghost | Ghost KG | Ulm | new | ' },
        { addLead: 'echo | Echo AG | Graz | new | ' },
        { service: { faults } },
        {
          sync: {
            exit: 3,
            plan: [
              'hold acme city: (empty) ≠ Bonn (lead.unasked)',
              'create-row echo (new-lead)',
              'hold ghost (lead.unasked)',
            ],
            did: 'created 1 rows',
            problems: ['lead.unasked acme city', 'lead.unasked ghost'],
          },
        },
        { status: { acme: 'held: the service did not say whether its lead is there' } },
        { service: { faults: [] } },
        { sync: { exit: 3, did: 'updated 1 leads 1 rows', problems: ['row.orphan ghost'] } },
      ],
      end: {
        leads: [change(won, { 2: 'Bonn' }), dorn, 'echo | Echo AG | Graz | new'],
        rows: [
          shows(change(acmeRow, { 2: 'Bonn', 3: 'won' }), outside),
          dorn,
          shows('ghost | Ghost KG | Ulm | new | ', 'held: no lead has this id'),
          'echo | Echo AG | Graz | new',
        ],
      },
    }),
  ),
  {
    title: 'a torn scan with a filter moves no lead outside',
    query: { stage: 'new' },
    service: { maxLimit: 2, repeatItems: 1 },
    given: { leads: [acme, dorn, 'echo | Echo | Ulm | new', 'falk | Falk | Ulm | new'], rows: [acmeRow] },
    steps: [
      { sync: { exit: 0, did: 'created 3 rows' } },
      { lead: 'acme', set: { stage: 'won' } },
      quiet,
      { status: { acme: 'in step' } },
    ],
    end: {
      leads: [won, dorn, 'echo | Echo | Ulm | new', 'falk | Falk | Ulm | new'],
      rows: [acmeRow, dorn, 'echo | Echo | Ulm | new', 'falk | Falk | Ulm | new'],
    },
  },
];
