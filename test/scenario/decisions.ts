import { acme, bolt, change, cord, row, shows, type Scenario } from './scenario.ts';

const acmeRow = row(acme, 'call Anna');
const boltRow = row(bolt);
const cordRow = row(cord, '=1+1');
const bothEdited = [
  { lead: 'acme', set: { stage: 'won' } },
  { row: 'acme', set: { Stage: 'lost' } },
  { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
] as const;
const acmeIs = (stage: string) => ({
  leads: [change(acme, { 3: stage }), bolt, cord],
  rows: [change(acmeRow, { 3: stage }), boltRow, cordRow],
});

const heldIs = (stage: string) => [
  shows(change(acmeRow, { 3: stage }), 'held: Stage was changed here and in the service'),
  boltRow,
  cordRow,
];

/** A person decides what is held; a decision counts only for the values that were decided on. */
export const decisionScenarios: readonly Scenario[] = [
  {
    title: 'a conflict, decided for the lead',
    steps: [
      ...bothEdited,
      { resolve: 'acme.stage', use: 'lead' },
      { sync: { exit: 0, plan: ['update-row acme stage: lost → won (resolved)'], did: 'updated 1 rows' } },
    ],
    end: acmeIs('won'),
  },
  {
    title: 'a conflict, decided for the target',
    steps: [
      ...bothEdited,
      { resolve: 'acme.stage', use: 'row' },
      { sync: { exit: 0, plan: ['update-lead acme stage: won → lost (resolved)'], did: 'updated 1 leads' } },
    ],
    end: acmeIs('lost'),
  },
  {
    title: 'a conflict, ended by making the two sides equal',
    steps: [
      ...bothEdited,
      { row: 'acme', set: { Stage: 'won' } },
      { sync: { exit: 0, plan: [], did: 'nothing' } },
    ],
    end: acmeIs('won'),
  },
  {
    title: 'a decision is dropped when the row changes after it',
    steps: [
      ...bothEdited,
      { resolve: 'acme.stage', use: 'lead' },
      { row: 'acme', set: { Stage: 'qualified' } },
      {
        sync: {
          exit: 3,
          plan: ['hold acme stage: won ≠ qualified (conflict.both-edited)'],
          did: 'nothing',
          problems: ['conflict.both-edited acme stage'],
        },
      },
      { row: 'acme', set: { Stage: 'lost' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
    ],
    end: { leads: acmeIs('won').leads, rows: heldIs('lost') },
  },
  {
    title: 'a decision is dropped when the lead changes after it',
    steps: [
      ...bothEdited,
      { resolve: 'acme.stage', use: 'row' },
      { lead: 'acme', set: { stage: 'qualified' } },
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.both-edited acme stage'] } },
    ],
    end: { leads: acmeIs('qualified').leads, rows: heldIs('lost') },
  },
  {
    title: 'an unreadable date, decided for the lead',
    steps: [
      { row: 'acme', set: { 'Next follow-up': 'next Tuesday' } },
      { sync: { exit: 3, did: 'nothing', problems: ['row.unreadable acme nextFollowUpAt'] } },
      { resolve: 'acme.nextFollowUpAt', use: 'lead' },
      { sync: { exit: 0, did: 'updated 1 rows' } },
    ],
    end: acmeIs('new'),
  },
  {
    title: 'a difference at first sight, decided for the target',
    given: { leads: [acme], rows: [change(acmeRow, { 2: 'Bonn' })] },
    steps: [
      { sync: { exit: 3, did: 'nothing', problems: ['conflict.first-sight acme city'] } },
      { resolve: 'acme.city', use: 'row' },
      { sync: { exit: 0, did: 'updated 1 leads' } },
    ],
    end: { leads: [change(acme, { 2: 'Bonn' })], rows: [change(acmeRow, { 2: 'Bonn' })] },
  },
];

const twelve = Array.from({ length: 12 }, (_, index) => `l${index} | Company ${index} | Berlin | new | `);
const thirty = Array.from({ length: 30 }, (_, index) => `l${index} | Company ${index} | Berlin | new | `);
const inStep = { leads: twelve, rows: twelve };
const unlike = twelve.map((_, index) => `l${index} | Company ${index} | City ${index} | stage ${index} | `);
const first = { sync: { exit: 0, did: 'nothing' } } as const;
const all = (part: number, text: string) => twelve.map((line) => change(line, { [part]: text }));

/** The guard stops a plan that looks like an accident (docs/architecture.md 6); a person can let it pass. */
export const guardScenarios: readonly Scenario[] = [
  {
    title: 'empty-scan: the service shows no lead at all',
    given: inStep,
    steps: [
      first,
      ...twelve.map((_, index) => ({ removeLead: `l${index}` })),
      { sync: { exit: 4, did: 'nothing', problems: ['guard.empty-scan'] } },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.empty-scan'] } },
      { sync: { exit: 0, did: 'nothing' }, allow: ['empty-scan'] },
    ],
    end: {
      leads: [],
      rows: twelve.map((line) => shows(line, 'waiting: the service does not list this lead')),
    },
    unsettled: true,
  },
  {
    title: 'max-deletes: too many leads are gone',
    given: inStep,
    sync: { limits: { maxDeletes: 2 } },
    steps: [
      first,
      ...[0, 1, 2].map((index) => ({ removeLead: `l${index}` })),
      first,
      {
        sync: {
          exit: 4,
          plan: ['mark-row l0 (lead-deleted)', 'mark-row l1 (lead-deleted)', 'mark-row l2 (lead-deleted)'],
          did: 'nothing',
          problems: ['guard.max-deletes'],
        },
      },
      { sync: { exit: 0, did: 'updated 3 rows' }, allow: ['max-deletes'] },
    ],
    end: {
      leads: twelve.slice(3),
      rows: twelve.map((line, index) => (index < 3 ? `${line} |  | deleted today` : line)),
    },
  },
  {
    title:
      'max-deletes: most rows of a small team are gone, as from an older or a cut file: stopped, no lead is deleted',
    given: inStep,
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      first,
      ...[4, 5, 6, 7, 8, 9, 10, 11].map((index) => ({ removeRow: `l${index}` })),
      {
        sync: {
          exit: 0,
          plan: [],
          did: 'nothing',
          problems: [4, 5, 6, 7, 8, 9, 10, 11].map((index) => `delete.waiting l${index}`),
        },
      },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.max-deletes'] } },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.max-deletes'] } },
    ],
    end: { leads: twelve, rows: twelve.slice(0, 4) },
  },
  {
    title: 'max-deletes: three of twelve rows are an ordinary day',
    given: inStep,
    sync: { onRowDeleted: 'delete-lead' },
    steps: [
      first,
      ...[0, 1, 2].map((index) => ({ removeRow: `l${index}` })),
      {
        sync: {
          exit: 0,
          did: 'nothing',
          problems: ['l0', 'l1', 'l2'].map((name) => `delete.waiting ${name}`),
        },
      },
      { sync: { exit: 0, did: 'deleted 3 leads' } },
    ],
    end: { leads: twelve.slice(3), rows: twelve.slice(3) },
  },
  {
    title: 'max-changes: most rows are gone and would be written again',
    given: { leads: thirty, rows: thirty },
    steps: [
      first,
      ...thirty.slice(10).map((_, index) => ({ removeRow: `l${index + 10}` })),
      { sync: { exit: 4, did: 'nothing', problems: ['guard.max-changes'] } },
      { sync: { exit: 0, did: 'created 20 rows' }, allow: ['max-changes'] },
    ],
    end: { leads: thirty, rows: thirty },
  },
  {
    title: 'max-changes: too many rows were edited',
    given: inStep,
    sync: { limits: { maxChanges: '50%' } },
    steps: [
      first,
      ...twelve.slice(0, 11).map((_, index) => ({ row: `l${index}`, set: { City: 'Bonn' } })),
      { sync: { exit: 4, did: 'nothing', problems: ['guard.max-changes'] } },
      { sync: { exit: 0, did: 'updated 11 leads' }, allow: ['max-changes'] },
    ],
    end: {
      leads: [...all(2, 'Bonn').slice(0, 11), ...twelve.slice(11)],
      rows: [...all(2, 'Bonn').slice(0, 11), ...twelve.slice(11)],
    },
  },
  {
    title: 'whole-field: a column was cleared',
    given: inStep,
    sync: { limits: { maxChanges: '100%' } },
    steps: [
      first,
      ...twelve.map((_, index) => ({ row: `l${index}`, set: { City: '' } })),
      { sync: { exit: 4, did: 'nothing', problems: ['guard.whole-field'] } },
      { sync: { exit: 4, did: 'nothing', problems: ['guard.whole-field'] }, allow: ['max-changes'] },
      { sync: { exit: 0, did: 'updated 12 leads' }, allow: ['whole-field'] },
    ],
    end: { leads: all(2, ''), rows: all(2, '') },
  },
  {
    title: 'rows-shuffled: the table was sorted without its id column',
    given: { leads: unlike, rows: unlike },
    sync: { limits: { maxChanges: '100%' } },
    steps: [
      first,
      ...unlike.slice(0, 11).map((_, index) => ({
        row: `l${index}`,
        set: { Company: `Company ${index + 1}`, City: `City ${index + 1}`, Stage: `stage ${index + 1}` },
      })),
      { sync: { exit: 4, did: 'nothing', problems: ['guard.rows-shuffled'] } },
      ...unlike.slice(0, 11).map((_, index) => ({
        row: `l${index}`,
        set: { Company: `Company ${index}`, City: `City ${index}`, Stage: `stage ${index}` },
      })),
      { sync: { exit: 0, did: 'nothing' } },
    ],
    end: { leads: unlike, rows: unlike },
  },
];
