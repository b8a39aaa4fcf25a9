import { parseFaults } from '../../src/demo/faults.ts';
import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const leads = [acme, bolt, cord];

/** Keys that may not do everything: what they may do is done, the rest is held and named. */
export const keyScenarios: readonly Scenario[] = [
  {
    title: 'a key that may only list: rows are still written, leads are not, each edit is held and named',
    service: { permissions: ['leads:read'] },
    steps: [
      { lead: 'cord', set: { city: 'Bonn' } },
      { row: 'acme', set: { Stage: 'won' } },
      { row: 'bolt', set: { Stage: 'won' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { addRow: ' | Echo | Ulm | new | ' },
      {
        sync: {
          exit: 3,
          did: 'updated 1 rows',
          problems: [
            'leads.forbidden acme',
            'leads.forbidden bolt',
            'leads.forbidden row 5',
            'leads.forbidden row 6',
          ],
        },
      },
      { service: { permissions: ['leads:read', 'leads:update', 'leads:create'] } },
      { sync: { exit: 0, did: 'created 2 leads, updated 2 leads' } },
    ],
    end: {
      leads: [
        change(acme, { 3: 'won' }),
        change(bolt, { 3: 'won' }),
        change(cord, { 2: 'Bonn' }),
        'new1 | Echo | Ulm | new',
        'new2 | Echo | Ulm | new',
      ],
      rows: [
        change(acmeRow, { 3: 'won' }),
        change(boltRow, { 3: 'won' }),
        change(cordRow, { 2: 'Bonn' }),
        'new1 | Echo | Ulm | new',
        'new2 | Echo | Ulm | new',
      ],
    },
  },
  {
    title: 'a key that may read and create: new rows become leads, edits are held',
    service: { permissions: ['leads:read', 'leads:create'], errorShape: 'array' },
    steps: [
      { row: 'acme', set: { Stage: 'won' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { sync: { exit: 3, did: 'created 1 leads', problems: ['leads.forbidden acme'] } },
    ],
    end: {
      leads: [...leads, 'new1 | Echo | Ulm | new'],
      rows: [
        shows(change(acmeRow, { 3: 'won' }), 'held: leadsync is not allowed to change this in the service'),
        boltRow,
        cordRow,
        'new1 | Echo | Ulm | new',
      ],
    },
  },
  {
    title: 'a key that may read and update: edits go through, new rows are held',
    service: { permissions: ['leads:read', 'leads:update'], errorShape: 'text' },
    steps: [
      { row: 'acme', set: { Stage: 'won' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { sync: { exit: 3, did: 'updated 1 leads', problems: ['leads.forbidden row 5'] } },
    ],
    end: {
      leads: [change(acme, { 3: 'won' }), bolt, cord],
      rows: [
        change(acmeRow, { 3: 'won' }),
        boltRow,
        cordRow,
        shows(' | Echo | Ulm | new', 'held: leadsync is not allowed to change this in the service'),
      ],
    },
  },
  {
    title: 'a key that may not delete: the lead of a deleted row stays, and this is reported',
    service: { permissions: ['leads:read', 'leads:create', 'leads:update'] },
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { removeRow: 'acme' },
      { sync: { exit: 0, did: 'nothing', problems: ['delete.waiting acme'] } },
      { sync: { exit: 3, did: 'nothing', problems: ['leads.forbidden acme'] } },
    ],
    end: { leads, rows: [boltRow, cordRow] },
  },
];

/** Faults that end a run before anything is written; once they are over the same edits arrive. */
export const faultScenarios: readonly Scenario[] = [
  ...(
    [
      ['a wrong key', { apiKey: 'another' }, 'leads.unauthenticated'],
      [
        'a wrong key, errors without a body',
        { apiKey: 'another', errorShape: 'empty' },
        'leads.unauthenticated',
      ],
      ['a key that may not list', { permissions: ['leads:create', 'leads:update'] }, 'leads.forbidden'],
      [
        'a service that fails',
        { faults: [{ kind: 'status', status: 503, when: { every: 1 }, on: [] }] },
        'leads.unavailable',
      ],
      [
        'connections that are reset',
        { faults: [{ kind: 'reset', when: { every: 1 }, on: [] }] },
        'leads.unavailable',
      ],
      [
        'bodies that end early',
        { faults: [{ kind: 'unfinished', when: { every: 1 }, on: [] }] },
        'leads.unavailable',
      ],
      [
        'answers that are not JSON',
        { faults: [{ kind: 'not-json', when: { every: 1 }, on: [] }] },
        'leads.not-json',
      ],
      [
        '10 MB that are not JSON',
        { faults: [{ kind: 'huge', when: { every: 1 }, on: [] }] },
        'leads.not-json',
      ],
      [
        'a redirect',
        { faults: [{ kind: 'status', status: 302, when: { every: 1 }, on: [] }] },
        'leads.redirected',
      ],
    ] as const
  ).map(([what, service, code]): Scenario => {
    return {
      title: `${what}: failed and reported, nothing is touched, all edits arrive afterwards`,
      steps: [
        { lead: 'acme', set: { stage: 'won' } },
        { row: 'bolt', set: { Stage: 'won' } },
        { addRow: ' | Echo | Ulm | new | ' },
        { service },
        {
          sync: {
            exit: code === 'leads.unauthenticated' ? 4 : 1,
            plan: [],
            did: 'nothing',
            problems: [code],
          },
        },
        {
          service: {
            apiKey: 'sandbox-key-1fkasq',
            permissions: ['leads:read', 'leads:create', 'leads:update'],
            faults: [],
          },
        },
        { sync: { exit: 0, did: 'created 1 leads, updated 1 leads 1 rows' } },
      ],
      end: {
        leads: [change(acme, { 3: 'won' }), change(bolt, { 3: 'won' }), cord, 'new1 | Echo | Ulm | new'],
        rows: [
          change(acmeRow, { 3: 'won' }),
          change(boltRow, { 3: 'won' }),
          cordRow,
          'new1 | Echo | Ulm | new',
        ],
      },
    };
  }),
  {
    title:
      'a maintenance page with status 200 for the first of each write: nothing was done, and each is done after it',
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      { row: 'acme', set: { Stage: 'won' } },
      { addRow: ' | Echo | Ulm | new | ' },
      { removeRow: 'cord' },
      { sync: { exit: 0, did: 'created 1 leads, updated 1 leads', problems: ['delete.waiting cord'] } },
      { row: 'acme', set: { Stage: 'lost' } },
      { addRow: ' | Falk | Ulm | new | ' },
      {
        service: {
          faults: ['POST', 'PATCH', 'DELETE'].flatMap((on) => parseFaults(`maintenance:once=1,on=${on}`)),
        },
      },
      { sync: { exit: 0, did: 'created 1 leads, updated 1 leads, deleted 1 leads' } },
    ],
    end: {
      leads: [change(acme, { 3: 'lost' }), bolt, 'new1 | Echo | Ulm | new', 'new2 | Falk | Ulm | new'],
      rows: [change(acmeRow, { 3: 'lost' }), boltRow, 'new1 | Echo | Ulm | new', 'new2 | Falk | Ulm | new'],
    },
  },
];
