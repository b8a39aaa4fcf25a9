import { change, row, type Scenario } from './scenario.ts';

/** A German list, and a service that knows English stages. */
const words = { Neu: 'new', 'In Prüfung': 'qualified', Gewonnen: 'won' };

const acme = 'acme | Acme GmbH | Berlin | new';
const bolt = 'bolt | Bolt AG | Wien | qualified';
const leads = [acme, bolt];
const acmeRow = row(change(acme, { 3: 'Neu' }));
const boltRow = row(change(bolt, { 3: 'In Prüfung' }));
const rows = [acmeRow, boltRow];
const known = (line: string, stage: string): string => change(line, { 3: stage });

const stage = (values: Readonly<Record<string, string>>, direction = 'two-way') => ({
  stage: { column: 'Stage', values, direction },
});

export const wordScenarios: readonly Scenario[] = [
  {
    title: 'an edit of either side arrives in the words of the other, and new ones do',
    fields: stage(words),
    given: { leads, rows },
    steps: [
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { row: 'acme', set: { Stage: ' GEWONNEN' } },
      { lead: 'bolt', set: { stage: 'New' } },
      { addLead: 'cord | Cord KG | Köln | won' },
      { addRow: ' | Dorn AG | Linz | in prüfung' },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme stage: new → won (row-edited)',
            'update-row bolt stage: qualified → new (lead-edited)',
            'create-row cord (new-lead)',
            'create-lead row 4 (new-row)',
          ],
          did: 'created 1 leads 1 rows, updated 1 leads 1 rows',
        },
      },
    ],
    end: {
      leads: [
        known(acme, 'won'),
        known(bolt, 'New'),
        'cord | Cord KG | Köln | won',
        'new1 | Dorn AG | Linz | qualified',
      ],
      rows: [
        known(acmeRow, ' GEWONNEN'),
        known(boltRow, 'Neu'),
        'new1 | Dorn AG | Linz | in prüfung',
        'cord | Cord KG | Köln | Gewonnen',
      ],
    },
  },
  {
    title: 'a word of either side without a partner is held, until the map is extended: then it goes on',
    fields: stage(words),
    given: { leads, rows },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'acme', set: { Stage: 'Verloren', City: 'Bonn' } },
      { lead: 'bolt', set: { stage: 'proposal', city: 'Graz' } },
      { addLead: 'cord | Cord KG | Köln | proposal' },
      { addRow: ' | Dorn AG | Linz | Verloren' },
      {
        sync: {
          exit: 3,
          plan: [
            'update-lead acme city: Berlin → Bonn (row-edited)',
            'hold acme stage: new ≠ Verloren (row.unmapped)',
            'update-row bolt city: Wien → Graz (lead-edited)',
            'hold bolt stage: proposal ≠ qualified (lead.unmapped)',
            'create-row cord (new-lead)',
            'hold cord stage: proposal ≠ (empty) (lead.unmapped)',
            'hold row 4 stage: (empty) ≠ Verloren (row.unmapped)',
          ],
          did: 'created 1 rows, updated 1 leads 1 rows',
          problems: [
            'row.unmapped acme stage',
            'lead.unmapped bolt stage',
            'lead.unmapped cord stage',
            'row.unmapped row 4 stage',
          ],
        },
      },
      {
        status: {
          acme: 'held: Stage has a word that the service does not know',
          bolt: 'held: Stage has a word in the service that this table does not know',
          'Dorn AG': 'held: a word of this row is not known to the service',
        },
      },
      { fields: stage({ ...words, Verloren: 'lost', Angebot: 'proposal' }) },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme stage: new → lost (row-edited)',
            'update-row bolt stage: qualified → proposal (lead-edited)',
            'update-row cord stage: (empty) → proposal (fills-empty)',
            'create-lead row 4 (new-row)',
          ],
          did: 'created 1 leads, updated 1 leads 2 rows',
        },
      },
    ],
    end: {
      leads: [
        change(acme, { 2: 'Bonn', 3: 'lost' }),
        change(bolt, { 2: 'Graz', 3: 'proposal' }),
        'cord | Cord KG | Köln | proposal',
        'new1 | Dorn AG | Linz | lost',
      ],
      rows: [
        change(acmeRow, { 2: 'Bonn', 3: 'Verloren' }),
        change(boltRow, { 2: 'Graz', 3: 'Angebot' }),
        'new1 | Dorn AG | Linz | Verloren',
        'cord | Cord KG | Köln | Angebot',
      ],
    },
  },
  {
    title: 'a person decides for the value that the other side can take',
    fields: stage(words),
    given: { leads, rows },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'acme', set: { Stage: 'Verloren' } },
      { lead: 'bolt', set: { stage: 'proposal' } },
      {
        sync: { exit: 3, did: 'nothing', problems: ['row.unmapped acme stage', 'lead.unmapped bolt stage'] },
      },
      { resolve: 'acme.stage', use: 'lead' },
      { resolve: 'bolt.stage', use: 'row' },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: { leads, rows },
  },
  {
    title: 'a table that was in step word by word, and is told what its words mean',
    given: { leads: [acme, bolt], rows: [row(acme), row(bolt)] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { fields: stage(words) },
      { sync: { exit: 0, did: 'nothing' } },
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'bolt', set: { Stage: 'Neu' } },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: {
      leads: [known(acme, 'won'), known(bolt, 'new')],
      rows: [known(acmeRow, 'Gewonnen'), known(boltRow, 'Neu')],
    },
  },
  {
    title:
      'both sides had the words of the table, and are told what they mean: the leads get those of the service',
    given: {
      leads: [known(acme, 'Neu'), known(bolt, 'Gewonnen')],
      rows: [acmeRow, known(boltRow, 'Gewonnen')],
    },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { fields: stage(words) },
      {
        sync: {
          exit: 0,
          plan: [
            'update-lead acme stage: Neu → new (row-edited)',
            'update-lead bolt stage: Gewonnen → won (row-edited)',
          ],
          did: 'updated 2 leads',
        },
      },
    ],
    end: { leads: [acme, known(bolt, 'won')], rows: [acmeRow, known(boltRow, 'Gewonnen')] },
  },
  {
    title: 'several words of the table for one of the service, in a field that only travels there',
    fields: stage({ Neu: 'new', Erstkontakt: 'new', Gewonnen: 'won' }, 'to-leads'),
    given: { leads: [acme], rows: [known(acmeRow, 'Erstkontakt')] },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'acme', set: { Stage: 'Gewonnen' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
      { lead: 'acme', set: { stage: 'lost' } },
      { sync: { exit: 0, plan: ['update-lead acme stage: lost → won (one-way)'], did: 'updated 1 leads' } },
      { row: 'acme', set: { Stage: 'Erstkontakt' } },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: { leads: [acme], rows: [known(acmeRow, 'Erstkontakt')] },
  },
  {
    title: 'both sides changed: the conflict names the values of the service, and either may win',
    fields: stage(words),
    given: { leads, rows },
    steps: [
      { sync: { exit: 0, did: 'nothing' } },
      { row: 'acme', set: { Stage: 'Gewonnen' } },
      { lead: 'acme', set: { stage: 'qualified' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme stage: qualified ≠ won (conflict.both-edited)'],
          did: 'nothing',
          problems: ['conflict.both-edited acme stage'],
        },
      },
      { resolve: 'acme.stage', use: 'lead' },
      { sync: { exit: 0, did: 'updated 1 rows' } },
    ],
    end: { leads: [known(acme, 'qualified'), bolt], rows: [known(acmeRow, 'In Prüfung'), boltRow] },
  },
  {
    title: 'a word that both sides show and the map lacks is agreed on, and follows an edit of either side',
    fields: stage(words),
    given: {
      leads: [known(acme, 'Muster'), known(bolt, 'Muster')],
      rows: [known(acmeRow, 'Muster'), known(boltRow, 'Muster')],
    },
    steps: [
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { status: { acme: 'in step', bolt: 'in step' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
      { lead: 'acme', set: { stage: 'won' } },
      { row: 'bolt', set: { Stage: 'Neu' } },
      { sync: { exit: 0, did: 'updated 1 leads 1 rows' } },
    ],
    end: {
      leads: [known(acme, 'won'), known(bolt, 'new')],
      rows: [known(acmeRow, 'Gewonnen'), known(boltRow, 'Neu')],
    },
  },
];
