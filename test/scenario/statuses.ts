import { acme, bolt, change, cord, row, type Scenario, shows } from './scenario.ts';
import { parseFaults } from '../../src/demo/faults.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const leads = [acme, bolt, cord];

/** What the status column says while a story goes on; its other texts stand at the ends of the other scenarios. */
export const statusScenarios: readonly Scenario[] = [
  {
    title: 'the first sync says that all is in step; what a person types into the column is ours to correct',
    steps: [
      { status: { acme: 'in step', bolt: 'in step', cord: 'in step' } },
      { row: 'bolt', set: { Status: 'mine' } },
      { row: 'cord', set: { Status: '' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
    ],
    end: { leads, rows: [acmeRow, boltRow, cordRow] },
  },
  {
    title: 'a column that is not there, or twice: nothing is written',
    given: { leads, rows: null },
    target: { statusColumn: 'Sync' },
    steps: [
      { file: 'Lead ID,Company,City,Stage,Next follow-up,Notes,Status,sync,Sync ,Sync\n' },
      { sync: { exit: 0, did: 'created 3 rows' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
    ],
    end: { leads, rows: leads.map((line) => shows(line, 'no status')) },
  },
  {
    title: 'no column is named: nothing is written',
    target: { statusColumn: undefined },
    steps: [{ row: 'acme', set: { Stage: 'won' } }, { sync: { exit: 0, did: 'updated 1 leads' } }],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow].map((line) => shows(line, 'no status')),
    },
  },
  {
    title: 'several fields are held: the first of the mapping and how many more, until they are settled',
    steps: [
      { lead: 'acme', set: { stage: 'won', city: 'Bonn', companyName: 'Acme SE' } },
      { row: 'acme', set: { Stage: 'lost', City: 'Kiel', Company: 'Acme AG' } },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: [
            'conflict.both-edited acme companyName',
            'conflict.both-edited acme city',
            'conflict.both-edited acme stage',
          ],
        },
      },
      { status: { acme: 'held: Company was changed here and in the service (and 2 more)', bolt: 'in step' } },
      { row: 'acme', set: { Company: 'Acme SE', City: 'Bonn' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
      { status: { acme: 'held: Stage was changed here and in the service' } },
      { resolve: 'acme.stage', use: 'lead' },
      { sync: { exit: 0, did: 'updated 1 rows' } },
    ],
    end: {
      leads: [change(acme, { 1: 'Acme SE', 2: 'Bonn', 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 1: 'Acme SE', 2: 'Bonn', 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title: 'the service does not answer for an edit: it waits, and is in step after the next sync',
    steps: [
      { row: 'acme', set: { Stage: 'won' } },
      { service: { faults: parseFaults('503:every=1,on=PATCH') } },
      { sync: { exit: 3, did: 'nothing', problems: ['leads.unavailable acme stage'], putOff: 1 } },
      { status: { acme: 'waiting: the service did not answer', bolt: 'in step' } },
      { service: { faults: [] } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [change(acmeRow, { 3: 'won' }), boltRow, cordRow],
    },
  },
  {
    title: 'a lead is being made of a row, and nobody knows yet which: it waits',
    steps: [
      { addRow: ' | Echo | Ulm | new | ' },
      { service: { faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') } },
      { sync: { exit: 1, did: 'nothing', problems: ['leads.unavailable'], putOff: 1 } },
      { status: { Echo: 'waiting: a lead is being created from this row' } },
      { service: { faults: [] } },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | new'],
      rows: [acmeRow, boltRow, cordRow, 'new1 | Echo | Ulm | new'],
    },
  },
  {
    title: 'a new row whose lead has another stage than was typed says so at once',
    service: { ignoredFields: ['stage'] },
    steps: [
      { addRow: ' | Echo | Ulm | won | ' },
      { sync: { exit: 3, did: 'created 1 leads', problems: ['lead.field-refused new1 stage'] } },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | '],
      rows: [
        acmeRow,
        boltRow,
        cordRow,
        shows('new1 | Echo | Ulm | won', 'held: the service refused this Stage'),
      ],
    },
  },
  {
    title:
      'two new rows alike, of which one is marked by hand: each shows its own text, and no night moves them',
    given: {
      leads,
      rows: [acmeRow, boltRow, cordRow, ' |  | Ulm | new |  | ', shows(' |  | Ulm | new', 'in step')],
    },
    steps: [
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['row.company-name-empty row 5', 'row.company-name-empty row 6'],
        },
      },
    ],
    end: {
      leads,
      rows: [
        acmeRow,
        boltRow,
        cordRow,
        ...[0, 1].map(() => shows(' |  | Ulm | new', 'held: Company is empty')),
      ],
    },
  },
  {
    title: 'copies of a row each say that they do not count, wherever they are sorted to',
    steps: [
      { addRow: acmeRow },
      { addRow: acmeRow },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['row.duplicate-id acme', 'row.duplicate-id acme'],
        },
      },
    ],
    end: {
      leads,
      rows: [
        acmeRow,
        boltRow,
        cordRow,
        ...[0, 1].map(() => shows(acmeRow, 'held: an earlier row has this id')),
      ],
    },
  },
  {
    title: 'a lead that is back after its row was marked: in step',
    steps: [
      { removeLead: 'acme' },
      { sync: { exit: 0, did: 'nothing' } },
      { sync: { exit: 0, did: 'updated 1 rows' } },
      { status: { acme: 'deleted today' } },
      { row: 'acme', set: { Status: 'mine' } },
      { sync: { exit: 0, did: 'nothing' } },
      { status: { acme: 'deleted today' } },
      { addLead: acme },
      { sync: { exit: 0, did: 'nothing' } },
    ],
    end: { leads: [bolt, cord, acme], rows: [acmeRow, boltRow, cordRow] },
  },
  {
    title: 'a run that the guard stops says nothing',
    steps: [
      { removeLead: 'acme' },
      { removeLead: 'bolt' },
      { removeLead: 'cord' },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.empty-scan'] } },
      { status: { acme: 'in step' } },
      { addLead: acme },
      { addLead: bolt },
      { addLead: cord },
    ],
    end: { leads, rows: [acmeRow, boltRow, cordRow] },
  },
];
