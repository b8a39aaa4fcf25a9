import type { SandboxBehaviour } from '../../src/demo/options.ts';
import { parseFaults } from '../../src/demo/faults.ts';
import { acme, bolt, change, cord, row, type Scenario } from './scenario.ts';

const inStepRows = [row(acme, 'call Anna'), row(bolt), row(cord, '=1+1')];

const newRows = [
  ' | Dorn AG | Linz | new | ',
  ' | Echo | Ulm | new | ',
  ' | Echo | Ulm | new | ',
  ' | Falk | Ulm | new | ',
];
const made = [
  'new1 | Dorn AG | Linz | new',
  'new2 | Echo | Ulm | new',
  'new3 | Echo | Ulm | new',
  'new4 | Falk | Ulm | new',
];

/** Replies to writes that are lost or say nothing: exactly one lead for each new row in the end (docs/guarantees.md, 3). */
export const lostReplyScenarios: readonly Scenario[] = [
  ...(
    [
      ['POST returns nothing', { createReply: 'nothing' }],
      ['POST returns nothing with 204', { createReply: 'nothing', createStatus: 204 }],
      ['POST returns only where the lead is', { createReply: 'location' }],
      ['every POST loses its reply', { faults: parseFaults('lost-reply:every=1,on=POST') }],
      ['every 2nd POST loses its reply', { faults: parseFaults('lost-reply:every=2,on=POST') }],
      ['every 2nd POST fails after it wrote', { faults: parseFaults('error-after-write:every=2,on=POST') }],
      ['every 3rd POST is answered by a login page', { faults: parseFaults('not-json:every=3,on=POST') }],
      ['every POST’s reply ends early', { faults: parseFaults('unfinished:every=1,on=POST') }],
      ['the 2nd POST is a 429', { faults: parseFaults('429:once=2,retryAfter=1,on=POST') }],
      ['POST returns nothing, ids tell no time', { createReply: 'nothing', order: 'random' }],
    ] satisfies readonly (readonly [string, Partial<SandboxBehaviour>])[]
  ).map(
    ([what, service]): Scenario => ({
      title: `${what}: one lead for each new row, two for two alike`,
      service,
      given: { leads: [], rows: newRows },
      steps: [{ sync: { exit: 0, did: 'created 4 leads' } }],
      anyOrder: true,
      end: { leads: made, rows: made },
    }),
  ),
  ...(
    [
      'lost-reply:every=2,on=PATCH',
      'error-after-write:every=2,on=PATCH',
      'unfinished:every=2,on=PATCH',
    ] as const
  ).map(
    (faults): Scenario => ({
      title: `${faults}: each edit arrives once`,
      service: { faults: parseFaults(faults) },
      steps: [
        { row: 'acme', set: { Stage: 'won' } },
        { row: 'bolt', set: { Stage: 'won', City: 'Graz' } },
        { sync: { exit: 0, did: 'updated 2 leads' } },
      ],
      end: {
        leads: [change(acme, { 3: 'won' }), change(bolt, { 2: 'Graz', 3: 'won' }), cord],
        rows: [
          change(inStepRows[0] ?? '', { 3: 'won' }),
          change(inStepRows[1] ?? '', { 2: 'Graz', 3: 'won' }),
          inStepRows[2] ?? '',
        ],
      },
    }),
  ),
  {
    title: 'a POST that never arrived: the lead is looked for in two later scans, then made',
    anyOrder: true,
    service: { faults: parseFaults('reset:once=1,on=POST') },
    given: { leads: [], rows: [' | Echo | Ulm | new | ', ' | Echo | Ulm | new | '] },
    steps: [{ sync: { exit: 0, did: 'created 2 leads' } }],
    end: {
      leads: ['new1 | Echo | Ulm | new', 'new2 | Echo | Ulm | new'],
      rows: ['new1 | Echo | Ulm | new', 'new2 | Echo | Ulm | new'],
    },
  },
  {
    title: 'a lost reply, and the row was edited before the lead was found: the lead gets the edit',
    given: { leads: [acme], rows: [inStepRows[0] ?? ''] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { service: { faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') } },
      { sync: { exit: 1, did: 'nothing', problems: ['leads.unavailable'], putOff: 1 } },
      { row: 'Echo', set: { City: 'Bonn' } },
      { service: { faults: [] } },
      { sync: { exit: 0, did: 'created 1 leads, updated 1 leads' } },
    ],
    end: {
      leads: [acme, 'new1 | Echo | Bonn | new'],
      rows: [inStepRows[0] ?? '', 'new1 | Echo | Bonn | new'],
    },
  },
  {
    title: 'a lost reply, and the row was deleted before the lead was found: the lead is an ordinary new one',
    given: { leads: [acme], rows: [inStepRows[0] ?? ''] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { service: { faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') } },
      { sync: { exit: 1, did: 'nothing', problems: ['leads.unavailable'], putOff: 1 } },
      { removeRow: 'Echo' },
      { service: { faults: [] } },
      { sync: { exit: 0, did: 'created 1 rows' } },
    ],
    end: { leads: [acme, 'new1 | Echo | Ulm | new'], rows: [inStepRows[0] ?? '', 'new1 | Echo | Ulm | new'] },
  },
];
