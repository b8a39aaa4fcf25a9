import type { SandboxBehaviour } from '../../src/demo/options.ts';
import { parseFaults } from '../../src/demo/faults.ts';
import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const leads = [acme, bolt, cord];
const rows = [row(acme, 'call Anna'), row(bolt), row(cord, '=1+1')];
const exists = 'held: the service has this lead already';
const find = (also: Partial<SandboxBehaviour> = {}): Partial<SandboxBehaviour> => ({
  faults: parseFaults('find-or-create'),
  ...also,
});

/** A service that answers POST with a lead that is there: the row is held once, and never becomes a second row of it. */
export const existingLeadScenarios: readonly Scenario[] = [
  ...(
    [
      ['200 and the lead', find({ createStatus: 200 })],
      ['201 and the lead', find()],
      ['201 and the lead one level down', find({ createReply: 'wrapped' })],
      ['only where the lead is', find({ createReply: 'location' })],
    ] satisfies readonly (readonly [string, Partial<SandboxBehaviour>])[]
  ).map(
    ([what, service]): Scenario => ({
      title: `POST finds a lead that is there, ${what}: held once, no id, and the rest goes on`,
      service,
      steps: [
        { addRow: ' | Acme GmbH | Hamburg | new | ' },
        { addRow: ' | Echo | Ulm | new | ' },
        { row: 'bolt', set: { City: 'Graz' } },
        { sync: { exit: 3, did: 'created 1 leads, updated 1 leads', problems: ['lead.exists row 5'] } },
        {
          sync: {
            exit: 3,
            plan: ['hold row 5 (lead.exists)'],
            did: 'nothing',
            problems: ['lead.exists row 5'],
          },
        },
        { row: 'Acme GmbH', set: { Company: 'Acme Nord' } },
        { sync: { exit: 0, did: 'created 1 leads' } },
      ],
      end: {
        leads: [
          acme,
          change(bolt, { 2: 'Graz' }),
          cord,
          'new1 | Echo | Ulm | new',
          'new2 | Acme Nord | Hamburg | new',
        ],
        rows: [
          row(acme, 'call Anna'),
          row(change(bolt, { 2: 'Graz' })),
          row(cord, '=1+1'),
          'new2 | Acme Nord | Hamburg | new',
          'new1 | Echo | Ulm | new',
        ],
      },
    }),
  ),
  {
    title:
      'POST overwrites a lead that is there: its row gets the value as any edit of the lead, and it settles',
    service: { faults: parseFaults('upsert') },
    steps: [
      { addRow: ' | Acme GmbH | Hamburg | new | ' },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.exists row 5'] } },
      {
        sync: {
          exit: 3,
          plan: ['update-row acme city: Berlin → Hamburg (lead-edited)', 'hold row 5 (lead.exists)'],
          did: 'updated 1 rows',
          problems: ['lead.exists row 5'],
        },
      },
    ],
    end: {
      leads: [change(acme, { 2: 'Hamburg' }), bolt, cord],
      rows: [
        row(change(acme, { 2: 'Hamburg' }), 'call Anna'),
        row(bolt),
        row(cord, '=1+1'),
        shows(' | Acme GmbH | Hamburg | new | ', exists),
      ],
    },
  },
  {
    title: 'two new rows of one name: the second reply has the id of the first',
    service: find(),
    steps: [
      { addRow: ' | Echo | Ulm | new | ' },
      { addRow: ' | Echo | Linz | won | ' },
      { sync: { exit: 3, did: 'created 1 leads', problems: ['lead.exists row 6'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.exists row 6'] } },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | new'],
      rows: [...rows, 'new1 | Echo | Ulm | new', shows(' | Echo | Linz | won', exists)],
    },
  },
  {
    title: 'three rows alike that show a lead which is there: one POST, each row is listed',
    service: find(),
    steps: [
      ...[5, 6, 7].map(() => ({ addRow: ' | Acme GmbH | Hamburg | new | ' })),
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['lead.exists row 5', 'lead.exists row 6', 'lead.exists row 7'],
        },
      },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['lead.exists row 5', 'lead.exists row 6', 'lead.exists row 7'],
        },
      },
    ],
    end: {
      leads,
      rows: [...rows, ...[5, 6, 7].map(() => shows(' | Acme GmbH | Hamburg | new', exists))],
    },
  },
  {
    title: 'the first sync of a table without ids: leads get their rows, the rows of the same names are held',
    service: find(),
    given: { leads, rows: [' | Acme GmbH | Hamburg | new | '] },
    steps: [
      { sync: { exit: 3, did: 'created 3 rows', problems: ['lead.exists row 2'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.exists row 2'] } },
    ],
    end: {
      leads,
      rows: [shows(' | Acme GmbH | Hamburg | new', exists), row(acme), row(bolt), row(cord)],
    },
  },
  {
    title: 'the reply with the lead that is there is lost: it is asked again, and held then',
    service: { faults: parseFaults('find-or-create;lost-reply:once=1,on=POST') },
    steps: [
      { addRow: ' | Acme GmbH | Berlin | new | 2031-01-05T09:00:00.000Z' },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.exists row 5'] } },
    ],
    end: {
      leads,
      rows: [...rows, shows(' | Acme GmbH | Berlin | new | 2031-01-05T09:00:00.000Z', exists)],
    },
  },
];
