import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const leads = [acme, bolt, cord];

/** What people and services get wrong: each holds only what it concerns, and loses nothing. */
export const badInputScenarios: readonly Scenario[] = [
  {
    title: 'a stage that the service does not know: held, the other field of the same row goes through',
    service: { stages: ['new', 'qualified', 'won', 'lost'] },
    steps: [
      { row: 'acme', set: { Stage: 'maybe', City: 'Bonn' } },
      { row: 'bolt', set: { Stage: 'won' } },
      {
        sync: {
          exit: 3,
          did: 'updated 2 leads',
          problems: ['lead.field-refused acme stage'],
        },
      },
      { status: { acme: 'held: the service refused this Stage', bolt: 'in step' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme stage: new ≠ maybe (lead.field-refused)'],
          did: 'nothing',
          problems: ['lead.field-refused acme stage'],
        },
      },
      { row: 'acme', set: { Stage: 'lost' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn', 3: 'lost' }), change(bolt, { 3: 'won' }), cord],
      rows: [change(acmeRow, { 2: 'Bonn', 3: 'lost' }), change(boltRow, { 3: 'won' }), cordRow],
    },
  },
  {
    title: 'a new row with a stage that the service does not know: held until the row changes, then made',
    service: { stages: ['new', 'qualified', 'won', 'lost'], errorShape: 'nested' },
    steps: [
      { addRow: ' | Dorn AG | Linz | maybe | ' },
      { addRow: ' | Echo | Ulm | new | ' },
      { sync: { exit: 3, did: 'created 1 leads', problems: ['lead.create-refused row 5'] } },
      {
        sync: {
          exit: 3,
          plan: ['hold row 5 (lead.create-refused)'],
          did: 'nothing',
          problems: ['lead.create-refused row 5'],
        },
      },
      { row: 'Dorn AG', set: { Stage: 'won' } },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | new', 'new2 | Dorn AG | Linz | won'],
      rows: [acmeRow, boltRow, cordRow, 'new2 | Dorn AG | Linz | won', 'new1 | Echo | Ulm | new'],
    },
  },
  {
    title: 'a field that the service accepts and ignores: held and named, not sent again',
    service: { ignoredFields: ['stage'] },
    steps: [
      { row: 'acme', set: { Stage: 'won', City: 'Bonn' } },
      { sync: { exit: 3, did: 'updated 1 leads', problems: ['lead.field-refused acme stage'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.field-refused acme stage'] } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn' }), bolt, cord],
      rows: [
        shows(change(acmeRow, { 2: 'Bonn', 3: 'won' }), 'held: the service refused this Stage'),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title: 'the company name was emptied: held, nothing is sent',
    steps: [
      { row: 'acme', set: { Company: '', City: 'Bonn' } },
      { sync: { exit: 3, did: 'updated 1 leads', problems: ['row.company-name-empty acme companyName'] } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn' }), bolt, cord],
      rows: [shows(change(acmeRow, { 1: '', 2: 'Bonn' }), 'held: Company is empty'), boltRow, cordRow],
    },
  },
  {
    title: 'new rows without a company name, two of them alike: each is held',
    steps: [
      { addRow: ' |  | Ulm | new | ' },
      { addRow: ' |  | Ulm | new | ' },
      { addRow: ' | Echo | Ulm | new | ' },
      {
        sync: {
          exit: 3,
          did: 'created 1 leads',
          problems: ['row.company-name-empty row 5', 'row.company-name-empty row 6'],
        },
      },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | new'],
      rows: [
        acmeRow,
        boltRow,
        cordRow,
        shows(' |  | Ulm | new', 'held: Company is empty'),
        shows(' |  | Ulm | new', 'held: Company is empty'),
        'new1 | Echo | Ulm | new',
      ],
    },
  },
  {
    title: 'two alike new rows that the service refuses: each is held',
    service: { stages: ['new', 'qualified', 'won', 'lost'] },
    given: { leads: [], rows: [' | Echo | Ulm | maybe | ', ' | Echo | Ulm | maybe | '] },
    steps: [
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['lead.create-refused row 2', 'lead.create-refused row 3'],
        },
      },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['lead.create-refused row 2', 'lead.create-refused row 3'],
        },
      },
    ],
    end: {
      leads: [],
      rows: [0, 1].map(() => shows(' | Echo | Ulm | maybe', 'held: the service refused this row as a lead')),
    },
  },
  {
    title: '"next Tuesday" in the date column of a known row: held, the rest of the row goes through',
    steps: [
      { row: 'acme', set: { 'Next follow-up': 'next Tuesday', City: 'Bonn' } },
      {
        sync: {
          exit: 3,
          plan: [
            'update-lead acme city: Berlin → Bonn (row-edited)',
            'hold acme nextFollowUpAt: 2031-01-05T09:00:00.000Z ≠ next Tuesday (row.unreadable)',
          ],
          did: 'updated 1 leads',
          problems: ['row.unreadable acme nextFollowUpAt'],
        },
      },
      { row: 'acme', set: { 'Next follow-up': '2031-01-06T09:00Z' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn', 4: '2031-01-06T09:00:00.000Z' }), bolt, cord],
      rows: [change(acmeRow, { 2: 'Bonn', 4: '2031-01-06T09:00Z' }), boltRow, cordRow],
    },
  },
  {
    title: '"next Tuesday" in a new row: the lead is created without a date, and this is reported at once',
    steps: [
      { addRow: ' | Dorn AG | Linz | new | next Tuesday | ' },
      {
        sync: {
          exit: 3,
          plan: [
            'hold row 5 nextFollowUpAt: (empty) ≠ next Tuesday (row.unreadable)',
            'create-lead row 5 (new-row)',
          ],
          did: 'created 1 leads',
          problems: ['row.unreadable new1 nextFollowUpAt'],
        },
      },
      { row: 'new1', set: { 'Next follow-up': '24.12.2031' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: {
      leads: [...leads, 'new1 | Dorn AG | Linz | new | 2031-12-24T00:00:00.000Z'],
      rows: [acmeRow, boltRow, cordRow, 'new1 | Dorn AG | Linz | new | 24.12.2031'],
    },
  },
  {
    title: 'a date of the service that cannot be read: held, the row keeps its own',
    steps: [
      { lead: 'acme', set: { nextFollowUpAt: 'soon', city: 'Bonn' } },
      { sync: { exit: 3, did: 'updated 1 rows', problems: ['lead.unreadable acme nextFollowUpAt'] } },
    ],
    end: {
      leads: [change(acme, { 2: 'Bonn', 4: 'soon' }), bolt, cord],
      rows: [
        shows(change(acmeRow, { 2: 'Bonn' }), 'held: Next follow-up cannot be read in the service'),
        boltRow,
        cordRow,
      ],
    },
  },
  {
    title:
      'a new lead with a date that cannot be read: its row is written without it, and that is held at once',
    anyOrder: true,
    given: { leads: [acme, change(bolt, { 4: '2026-06-30T23:59:60Z' })], rows: null },
    steps: [
      {
        sync: {
          exit: 3,
          plan: [
            'create-row acme (new-lead)',
            'create-row bolt (new-lead)',
            'hold bolt nextFollowUpAt: 2026-06-30T23:59:60Z ≠ (empty) (lead.unreadable)',
          ],
          did: 'created 2 rows',
          problems: ['lead.unreadable bolt nextFollowUpAt'],
        },
      },
      { sync: { exit: 3, did: 'nothing', problems: ['lead.unreadable bolt nextFollowUpAt'] } },
      { lead: 'bolt', set: { nextFollowUpAt: '2031-06-30T23:59:59Z' } },
      { sync: { exit: 0, did: 'updated 1 rows' } },
    ],
    end: {
      leads: [acme, change(bolt, { 4: '2031-06-30T23:59:59Z' })],
      rows: [acme, change(bolt, { 4: '2031-06-30T23:59:59.000Z' })],
    },
  },
  {
    title: 'the header row is missing: stopped, nothing is touched',
    given: { leads, rows: null },
    steps: [
      { file: '"01",Acme GmbH,Berlin\n"02",Bolt AG,Wien\n' },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target.header-missing'] } },
      { file: 'Lead ID,Company,City,Stage,Next follow-up,Notes,Status\n' },
      { sync: { exit: 0, did: 'created 3 rows' } },
    ],
    end: { leads, rows: leads },
  },
  {
    title: 'the id column was deleted: stopped, no lead is made a second time',
    steps: [
      { file: 'Company,City,Stage,Next follow-up\nAcme GmbH,Berlin,new,\n' },
      { sync: { exit: 4, plan: [], did: 'nothing', problems: ['guard.target.id-column-missing'] } },
      { file: 'Lead ID,Company,City,Stage,Next follow-up,Notes,Status\n' },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.target-gone'] } },
      { sync: { exit: 0, did: 'created 3 rows' }, allow: ['target-gone'] },
    ],
    end: { leads, rows: leads },
  },
  {
    title: 'a mapped column was deleted: that field is left out and reported, the others are synced',
    given: { leads: [acme], rows: [acmeRow] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      {
        file: `Lead ID,Company,Stage,Next follow-up\n01800000-0000-7000-8000-000061636d65,Acme GmbH,won,2031-01-05T09:00:00.000Z\n`,
      },
      {
        sync: {
          exit: 3,
          plan: ['update-lead acme stage: new → won (row-edited)'],
          did: 'updated 1 leads',
          problems: ['target.column-missing city'],
        },
      },
    ],
    end: { leads: [change(acme, { 3: 'won' })], rows: [change(acme, { 2: '', 3: 'won' })] },
  },
  ...(
    [
      ['renamed', 'Firma,City'],
      ['without a heading', ',City'],
      ['there twice', 'Company,Company'],
    ] as const
  ).map(([what, headings]): Scenario => {
    const file = (shown: string, stage: string): string =>
      [
        `Lead ID,${shown},Stage,Next follow-up,Notes,Status`,
        `01800000-0000-7000-8000-000061636d65,Acme GmbH,Berlin,${stage},2031-01-05T09:00:00.000Z,,`,
        ',Echo,Ulm,new,,,',
        ',Falk,Ulm,new,,,',
        '',
      ].join('\n');
    const problems = [
      'target.column-missing companyName',
      ...(what === 'there twice' ? ['target.column-missing city'] : []),
      'row.column-missing',
    ];
    return {
      title: `the column of the name is ${what}: nothing is created on either side, held as one line, and edits go on`,
      given: { leads: [acme], rows: [acmeRow] },
      steps: [
        { sync: { exit: 0, did: 'nothing' } },
        { addLead: bolt },
        { file: file(headings, 'won') },
        {
          sync: {
            exit: 3,
            plan: ['update-lead acme stage: new → won (row-edited)', 'hold row null (row.column-missing)'],
            did: 'updated 1 leads',
            problems,
          },
        },
        { status: { acme: 'in step' } },
        { sync: { exit: 3, did: 'nothing', problems } },
        { file: file('Company,City', 'won') },
        { sync: { exit: 0, did: 'created 2 leads 1 rows' } },
      ],
      end: {
        leads: [change(acme, { 3: 'won' }), bolt, 'new1 | Echo | Ulm | new', 'new2 | Falk | Ulm | new'],
        rows: [change(acme, { 3: 'won' }), 'new1 | Echo | Ulm | new', 'new2 | Falk | Ulm | new', bolt],
      },
    };
  }),
  {
    title:
      'the column of the name is gone and an id was cleared: the row waits with its lead, and gets its id back later',
    given: { leads: [acme], rows: [acmeRow] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      {
        file: 'Lead ID,City,Stage,Next follow-up,Notes,Status\n,Berlin,new,2031-01-05T09:00:00.000Z,,\n',
      },
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['target.column-missing companyName', 'row.column-missing'],
        },
      },
      {
        file: 'Lead ID,Company,City,Stage,Next follow-up,Notes,Status\n,Acme GmbH,Berlin,new,2031-01-05T09:00:00.000Z,,\n',
      },
      { sync: { exit: 0, plan: ['link acme (id-lost)'], did: 'updated 1 rows' } },
    ],
    end: { leads: [acme], rows: [row(acme)] },
  },
  {
    title:
      'a program left the letters of another encoding: held, the lead keeps its own, a decision brings them back',
    steps: [
      { row: 'cord', set: { Company: 'Cord & SÃ¶hne', City: 'K?ln', Stage: 'lost' } },
      {
        sync: {
          exit: 3,
          plan: [
            'update-lead cord stage: won → lost (row-edited)',
            'hold cord companyName: Cord & Söhne ≠ Cord & SÃ¶hne (row.garbled)',
            'hold cord city: Köln ≠ K?ln (row.garbled)',
          ],
          did: 'updated 1 leads',
          problems: ['row.garbled cord companyName', 'row.garbled cord city'],
        },
      },
      { status: { cord: 'held: Company has letters of another encoding (and 1 more)' } },
      { resolve: 'cord.companyName', use: 'lead' },
      { resolve: 'cord.city', use: 'row' },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: {
      leads: [acme, bolt, change(cord, { 2: 'K?ln', 3: 'lost' })],
      rows: [acmeRow, boltRow, change(cordRow, { 2: 'K?ln', 3: 'lost' })],
    },
  },
];
