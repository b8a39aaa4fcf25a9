import { parseFaults } from '../../src/demo/faults.ts';
import { row, type Scenario, shows } from './scenario.ts';

const lead = 'acme | Acme GmbH | Berlin | new | ';
const typed = ' | ACME | berlin | won | ';
const dorn = 'dorn | Dorn Logistik | Linz | new | ';
const proposed = 'held: it may be an existing lead (leadsync conflicts)';

const propose = { match: 'propose', onFirstSync: 'target-wins' };
const exact = { match: 'exact', onFirstSync: 'target-wins' };
const held = { exit: 3, did: 'nothing', problems: ['match.proposed acme'] } as const;

/** Matches whose lead or row changes, and matching beside other rules. */
export const changedMatchScenarios: readonly Scenario[] = [
  {
    title: 'the same name in another city is another company',
    sync: exact,
    given: { leads: [lead], rows: [' | Acme | Graz | new | '] },
    steps: [{ sync: { exit: 0, did: 'created 1 leads 1 rows' } }],
    end: {
      leads: [lead, 'new1 | Acme | Graz | new'],
      rows: [row('new1 | Acme | Graz | new | '), row(lead)],
    },
  },
  {
    title: 'the row of a proposal is renamed: the two are different companies',
    sync: propose,
    given: { leads: [lead], rows: [typed] },
    steps: [
      { sync: held },
      { row: 'ACME', set: { Company: 'Zimt & Zucker' } },
      { sync: { exit: 0, did: 'created 1 leads 1 rows' } },
    ],
    end: {
      leads: [lead, 'new1 | Zimt & Zucker | berlin | won'],
      rows: [row('new1 | Zimt & Zucker | berlin | won | '), row(lead)],
    },
  },
  {
    title: 'an accepted row is edited in a field outside matchBy: the decision holds',
    sync: propose,
    given: { leads: [lead], rows: [typed] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      { row: 'ACME', set: { Stage: 'lost' } },
      { lead: 'acme', set: { stage: 'qualified' } },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: { leads: ['acme | ACME | berlin | lost'], rows: [row('acme | ACME | berlin | lost | ')] },
  },
  {
    title: 'an accepted row is renamed to another name that resembles the lead: proposed again',
    sync: propose,
    given: { leads: [lead], rows: [typed] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      { row: 'ACME', set: { Company: 'Acme KG' } },
      { sync: held },
    ],
    end: { leads: [lead], rows: [shows(' | Acme KG | berlin | won', proposed)] },
  },
  {
    title: 'the row of an accepted proposal is deleted: the lead gets a row like any other',
    sync: propose,
    given: { leads: [lead, dorn], rows: [typed, row(dorn)] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      { removeRow: 'ACME' },
      { sync: { exit: 0, did: 'created 1 rows' } },
    ],
    end: { leads: [lead, dorn], rows: [row(dorn), row(lead)] },
  },
  {
    title: 'the lead of an accepted proposal is deleted: the row becomes a lead like any other',
    sync: propose,
    given: { leads: [lead, dorn], rows: [typed, row(dorn)] },
    steps: [
      { sync: held },
      { match: 'acme', row: 2, use: 'link' },
      { removeLead: 'acme' },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [dorn, 'new1 | ACME | berlin | won'],
      rows: [row('new1 | ACME | berlin | won | '), row(dorn)],
    },
  },
  {
    title: 'the id is typed by hand meanwhile: it counts, in this row or another',
    sync: propose,
    given: { leads: [lead], rows: [typed, ' | Other | Bonn | new | '] },
    steps: [
      { sync: { exit: 3, did: 'created 1 leads', problems: ['match.proposed acme'] } },
      { match: 'acme', row: 2, use: 'link' },
      { addRow: 'acme | Acme GmbH | Berlin | new | ' },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [lead, 'new1 | Other | Bonn | new', 'new2 | ACME | berlin | won'],
      rows: [
        row('new2 | ACME | berlin | won | '),
        row('new1 | Other | Bonn | new | '),
        row('acme | Acme GmbH | Berlin | new | '),
      ],
    },
  },
  {
    title: 'direction to-target: the row gets the id and the values of the lead',
    sync: { match: 'exact', direction: 'to-target', onFirstSync: 'leads-win' },
    given: { leads: [lead], rows: [typed] },
    steps: [{ sync: { exit: 0, did: 'updated 1 rows' } }],
    end: { leads: [lead], rows: [row(lead)] },
  },
  {
    title: 'direction to-leads: the lead gets the values of the row, and no second lead is created',
    sync: { match: 'exact', direction: 'to-leads', onFirstSync: 'target-wins' },
    given: { leads: [lead, dorn], rows: [typed] },
    steps: [{ sync: { exit: 0, did: 'updated 1 leads 1 rows' } }],
    end: { leads: ['acme | ACME | berlin | won', dorn], rows: [row('acme | ACME | berlin | won | ')] },
  },
  {
    title: 'with a filter: leads that it shows are matched, hidden ones are not',
    sync: exact,
    query: { stage: 'new' },
    given: {
      leads: ['acme | Acme | Berlin | new | ', 'bolt | Bolt | Wien | won | '],
      rows: [' | ACME | Berlin | new | '],
    },
    steps: [{ sync: { exit: 0, did: 'updated 1 leads 1 rows' } }],
    end: {
      leads: ['acme | ACME | Berlin | new', 'bolt | Bolt | Wien | won'],
      rows: [row('acme | ACME | Berlin | new | ')],
    },
  },
  {
    title: 'a row that lost its id goes to its lead, not to a new one that looks like it',
    sync: exact,
    given: { leads: [lead], rows: [row(lead)] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addLead: 'twin | Acme GmbH | Berlin | new | ' },
      { row: 'acme', set: { 'Lead ID': '' } },
      { sync: { exit: 0, did: 'created 1 rows, updated 1 rows' } },
    ],
    end: {
      leads: [lead, 'twin | Acme GmbH | Berlin | new'],
      rows: [row(lead), row('twin | Acme GmbH | Berlin | new | ')],
    },
  },
  {
    title: 'a create whose reply was lost finds its lead first',
    sync: exact,
    given: { leads: [dorn], rows: [row(dorn)] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { addRow: ' | Acme | Berlin | new | ' },
      { service: { faults: parseFaults('lost-reply:every=1,on=POST') } },
      { sync: { exit: 0, did: 'created 1 leads' } },
    ],
    end: {
      leads: [dorn, 'new1 | Acme | Berlin | new'],
      rows: [row(dorn), row('new1 | Acme | Berlin | new | ')],
    },
  },
];
