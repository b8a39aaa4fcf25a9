import { row, type Scenario, shows } from './scenario.ts';

const lead = 'acme | Acme GmbH | Berlin | new | ';
const typed = ' | ACME | berlin | won | ';
const dorn = 'dorn | Dorn Logistik | Linz | new | ';
const ernst = ' | Ernst Bau | Graz | new | ';
const proposed = 'held: it may be an existing lead (leadsync conflicts)';
const ambiguous = 'held: it may be one of several leads (leadsync conflicts)';

const propose = { match: 'propose', onFirstSync: 'target-wins' };
const exact = { match: 'exact', onFirstSync: 'target-wins' };
const held = { exit: 3, did: 'nothing', problems: ['match.proposed acme'] } as const;

/** New rows without an id and new leads that may be one (`match`). */
export const matchScenarios: readonly Scenario[] = [
  {
    title: 'off: a row and a lead of the same company become two of each',
    given: { leads: [lead], rows: [typed] },
    steps: [{ sync: { exit: 0, did: 'created 1 leads 1 rows' } }],
    end: {
      leads: [lead, 'new1 | ACME | berlin | won'],
      rows: [row('new1 | ACME | berlin | won | '), row(lead)],
    },
  },
  {
    title:
      'propose: two rows of one company make one lead; the other is held until somebody wants a second one',
    sync: propose,
    given: { leads: [dorn], rows: [ernst, ' | ERNST BAU | Graz | new | ', ' | Ernst Bau | Linz | new | '] },
    steps: [
      {
        sync: {
          exit: 3,
          plan: [
            'create-row dorn (new-lead)',
            'create-lead row 2 (new-row)',
            'hold row 3 (row.twin)',
            'create-lead row 4 (new-row)',
          ],
          did: 'created 2 leads 1 rows',
          problems: ['row.twin row 3'],
        },
      },
      { status: { 'ERNST BAU': 'held: another row shows the same company' } },
      { row: 'ERNST BAU', set: { Stage: 'won' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.twin row 3'] } },
      { resolve: '', use: 'row' },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [
        dorn,
        'new1 | Ernst Bau | Graz | new',
        'new2 | Ernst Bau | Linz | new',
        'new3 | ERNST BAU | Graz | won',
      ],
      rows: [
        row('new1 | Ernst Bau | Graz | new | '),
        row('new3 | ERNST BAU | Graz | won | '),
        row('new2 | Ernst Bau | Linz | new | '),
        row(dorn),
      ],
    },
  },
  {
    title: 'propose: a row and a lead that may be the same get no counterpart; new ones do',
    sync: propose,
    given: { leads: [lead, dorn], rows: [typed, ernst] },
    steps: [
      {
        sync: {
          exit: 3,
          plan: ['hold acme (match.proposed)', 'create-row dorn (new-lead)', 'create-lead row 3 (new-row)'],
          did: 'created 1 leads 1 rows',
          problems: ['match.proposed acme'],
        },
      },
      { sync: held },
    ],
    end: {
      leads: [lead, dorn, 'new1 | Ernst Bau | Graz | new'],
      rows: [shows(typed, proposed), row('new1 | Ernst Bau | Graz | new | '), row(dorn)],
    },
  },
  {
    title: 'propose, accepted: the row gets the id, and what differs goes by onFirstSync',
    sync: propose,
    given: { leads: [lead], rows: [`${typed} | call Anna`] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme companyName: Acme GmbH → ACME, city: Berlin → berlin, stage: new → won (target-wins)',
            'link acme (matched)',
          ],
          did: 'updated 1 leads 1 rows',
        },
      },
    ],
    end: { leads: ['acme | ACME | berlin | won'], rows: [row('acme | ACME | berlin | won | ', 'call Anna')] },
  },
  {
    title: 'propose, accepted, onFirstSync hold: linked, and each field that differs is held',
    sync: { match: 'propose' },
    given: { leads: ['acme | Acme | Berlin | new | '], rows: [' | Acme | Berlin | won | '] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      { sync: { exit: 3, did: 'updated 1 rows', problems: ['conflict.first-sight acme stage'] } },
    ],
    end: {
      leads: ['acme | Acme | Berlin | new'],
      rows: [shows('acme | Acme | Berlin | won | ', 'held: Stage is different in the service')],
    },
  },
  {
    title: 'propose, rejected: they become two, once',
    sync: propose,
    given: { leads: [lead], rows: [typed] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'apart' },
      { sync: { exit: 0, did: 'created 1 leads 1 rows' } },
    ],
    end: {
      leads: [lead, 'new1 | ACME | berlin | won'],
      rows: [row('new1 | ACME | berlin | won | '), row(lead)],
    },
  },
  {
    title:
      'one lead that may be either of two rows: listed, nothing is created, and the decision on one frees the other',
    sync: propose,
    given: { leads: [lead], rows: [typed, ' | Acme AG | Berlin | new | '] },
    steps: [
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['match.proposed acme', 'match.ambiguous row 3'],
        },
      },
      { status: { 'Acme AG': ambiguous } },
      { match: 'acme', row: 2, use: 'link' },
      { sync: { exit: 0, did: 'created 1 leads, updated 1 leads 1 rows' } },
    ],
    end: {
      leads: ['acme | ACME | berlin | won', 'new1 | Acme AG | Berlin | new'],
      rows: [row('acme | ACME | berlin | won | '), row('new1 | Acme AG | Berlin | new | ')],
    },
  },
  ...([propose, exact] as const).map(
    (sync): Scenario => ({
      title: `${sync.match}: one lead that may be either of two rows of one company: the row that is not linked is held`,
      sync,
      given: { leads: [lead], rows: [' | Acme | Berlin | new | ', typed] },
      steps: [
        {
          sync: {
            exit: 3,
            did: 'nothing',
            problems: ['match.ambiguous acme', 'match.ambiguous row 2', 'match.ambiguous row 3'],
          },
        },
        { status: { ACME: ambiguous } },
        { match: 'acme', row: 3, use: 'link' },
        { sync: { exit: 3, did: 'updated 1 leads 1 rows', problems: ['row.twin row 2'] } },
        { sync: { exit: 3, did: 'nothing', problems: ['row.twin row 2'] } },
        { resolve: '', use: 'row' },
        { sync: { exit: 0, did: 'created 1 leads' } },
      ],
      end: {
        leads: ['acme | ACME | berlin | won', 'new1 | Acme | Berlin | new'],
        rows: [row('new1 | Acme | Berlin | new | '), row('acme | ACME | berlin | won | ')],
      },
    }),
  ),
  {
    title:
      'one lead that may be either of two rows of one company: one is linked, the other is apart: two leads',
    sync: propose,
    given: { leads: [lead], rows: [typed, ' | Acme | Berlin | new | '] },
    steps: [
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: ['match.ambiguous acme', 'match.ambiguous row 2', 'match.ambiguous row 3'],
        },
      },
      { match: 'acme', row: 2, use: 'link' },
      { match: 'acme', row: 3, use: 'apart' },
      { sync: { exit: 0, did: 'created 1 leads, updated 1 leads 1 rows' } },
    ],
    end: {
      leads: ['acme | ACME | berlin | won', 'new1 | Acme | Berlin | new'],
      rows: [row('acme | ACME | berlin | won | '), row('new1 | Acme | Berlin | new | ')],
    },
  },
  {
    title: 'propose: a new row that shows the company of a pair in step is held',
    sync: { match: 'propose' },
    given: { leads: [lead], rows: [lead] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addRow: ' | ACME GmbH | Berlin | won | ' },
      { sync: { exit: 3, did: 'nothing', problems: ['row.twin row 3'] } },
    ],
    end: {
      leads: ['acme | Acme GmbH | Berlin | new'],
      rows: [row(lead), shows(' | ACME GmbH | Berlin | won | ', 'held: another row shows the same company')],
    },
  },
  {
    title: 'exact: the same name and city, alone on both sides, is linked unasked',
    sync: exact,
    given: { leads: [lead, dorn], rows: [typed, ernst] },
    steps: [{ sync: { exit: 0, did: 'created 1 leads 1 rows, updated 1 leads 1 rows' } }],
    end: {
      leads: ['acme | ACME | berlin | won', dorn, 'new1 | Ernst Bau | Graz | new'],
      rows: [row('acme | ACME | berlin | won | '), row('new1 | Ernst Bau | Graz | new | '), row(dorn)],
    },
  },
  {
    title: 'exact: two rows of the name, another legal form, or no city: asked, never linked',
    sync: exact,
    given: {
      leads: [
        'acme | Acme GmbH | Berlin | new | ',
        'bolt | Bolt GmbH | Wien | new | ',
        'cord | Cord | Bonn | new | ',
      ],
      rows: [
        ' | Acme | Berlin | new | ',
        ' | ACME GmbH | Berlin | won | ',
        ' | Bolt AG | Wien | new | ',
        ' | Cord |  | new | ',
      ],
    },
    steps: [
      {
        sync: {
          exit: 3,
          did: 'nothing',
          problems: [
            'match.ambiguous acme',
            'match.proposed bolt',
            'match.proposed cord',
            'match.ambiguous row 2',
            'match.ambiguous row 3',
          ],
        },
      },
    ],
    end: {
      leads: ['acme | Acme GmbH | Berlin | new', 'bolt | Bolt GmbH | Wien | new', 'cord | Cord | Bonn | new'],
      rows: [
        shows(' | Acme | Berlin | new | ', ambiguous),
        shows(' | ACME GmbH | Berlin | won | ', ambiguous),
        shows(' | Bolt AG | Wien | new | ', proposed),
        shows(' | Cord |  | new | ', proposed),
      ],
    },
  },
  {
    title: 'exact: a pair that is in step has the same name: asked',
    sync: exact,
    given: {
      leads: ['acme | Acme | Berlin | new | '],
      rows: ['acme | Acme | Berlin | new | '],
    },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addLead: 'twin | Acme | Berlin | new | ' },
      { addRow: ' | ACME | Berlin | new | ' },
      { sync: { exit: 3, did: 'nothing', problems: ['match.proposed twin'] } },
    ],
    end: {
      leads: ['acme | Acme | Berlin | new', 'twin | Acme | Berlin | new'],
      rows: [row('acme | Acme | Berlin | new | '), shows(' | ACME | Berlin | new | ', proposed)],
    },
  },
];
