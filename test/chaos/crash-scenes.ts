import type { ConnectionConfig } from '../../src/config/config.ts';
import type { Fault } from '../../src/demo/faults.ts';
import type { LeadTable } from '../../src/demo/lead-table.ts';
import type { SandboxOptions } from '../../src/demo/options.ts';
import type { Sheet, SheetRow } from '../support/sheet.ts';

/** What people work with. */
interface Place {
  readonly sandbox: { readonly leads: LeadTable };
  readonly sheet: Sheet;
}

/** A night in which the process dies, and the days before it: after each but the last one there was an ordinary sync. */
export interface Scene {
  readonly name: string;
  readonly service: Partial<SandboxOptions>;
  readonly sync: Partial<ConnectionConfig['sync']>;
  readonly days: readonly ((place: Place) => void)[];
}

const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up', 'Status'];
const stages = ['new', 'qualified', 'won', 'lost'];

/** What the ids of the leads that people made begin with: the same in every world, and too old for a create of now. */
export const fixedIds = '018f0000-';

function leadId(number: number): string {
  return `${fixedIds}0000-7000-8000-${String(number).padStart(12, '0')}`;
}

function addLeads({ sandbox }: Place, count: number): void {
  for (let number = 1; number <= count; number++) {
    sandbox.leads.add({
      id: leadId(number),
      companyName: `Lead ${number}`,
      segment: 'smb',
      city: 'Ulm',
      region: 'BW',
      stage: 'new',
      nextFollowUpAt: number % 2 === 0 ? '2031-03-01T08:00:00.000Z' : null,
    });
  }
}

function row(number: number): (candidate: SheetRow) => boolean {
  return (candidate) => candidate['Lead ID'] === leadId(number);
}

/** Leads and rows for every kind of work; the numbers say which lead. */
const everyKind: Scene['days'] = [
  (place) => {
    place.sheet.write([headings]);
    addLeads(place, 12);
  },
  ({ sandbox: { leads }, sheet }) => {
    for (const number of [1, 10, 11]) leads.remove(leadId(number));
    sheet.remove(row(11));
  },
  ({ sandbox: { leads }, sheet }) => {
    leads.add({ id: leadId(20), companyName: 'New lead', city: 'Bonn', stage: 'new' });
    sheet.remove(row(2));
    leads.edit(leadId(3), { city: 'Bonn' });
    leads.edit(leadId(4), { stage: 'won' });
    sheet.edit(row(4), { City: 'Jena', 'Next follow-up': '2032-01-01 10:00' });
    leads.edit(leadId(6), { city: 'Bonn' });
    sheet.edit(row(6), { City: 'Jena' });
    leads.edit(leadId(7), { city: 'Kiel' });
    sheet.edit(row(7), { City: 'Kiel' });
    sheet.edit(row(8), { Stage: 'no such stage', City: 'Jena' });
    sheet.edit(row(9), { City: ' Jena ' });
    sheet.edit(row(10), { City: 'Jena' });
    sheet.add({ Company: ' New row with spaces ', City: 'Trier', Stage: 'won' });
    sheet.add({ Company: 'Refused row', Stage: 'no such stage' });
    sheet.add({ City: 'Nameless' });
  },
];

/** What the other policies do, and two new rows that are alike. */
const everyDeletion: Scene['days'] = [
  (place) => {
    place.sheet.write([headings]);
    addLeads(place, 6);
  },
  ({ sandbox: { leads }, sheet }) => {
    leads.remove(leadId(1));
    sheet.remove(row(2));
  },
  ({ sandbox: { leads }, sheet }) => {
    leads.edit(leadId(3), { city: 'Bonn' });
    sheet.edit(row(3), { City: 'Jena' });
    sheet.add({ Company: 'New row', City: 'Jena', Stage: 'new' });
    sheet.add({ Company: 'New row', City: 'Jena', Stage: 'new' });
  },
];

const newRow: Scene['days'] = [
  (place) => {
    place.sheet.write([headings]);
    addLeads(place, 2);
  },
  ({ sheet }) => sheet.add({ Company: ' New row ', City: 'Jena', Stage: 'new' }),
];

const errorAfterCreate: Fault = { kind: 'error-after-write', when: { every: 1 }, on: ['create'] };

export const scenes: readonly Scene[] = [
  {
    name: 'first sync, the service limits the rate',
    service: {
      createReply: 'location',
      rejectLimit: true,
      defaultLimit: 3,
      faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 0 }, when: { once: 3 }, on: ['list'] }],
    },
    sync: {},
    days: [
      (place) => {
        addLeads(place, 5);
        const [, ...cells] = ['', 'Lead 1', 'smb', 'Ulm', 'BW', 'new', '', ''];
        const [, , , ...half] = cells;
        place.sheet.write([
          headings,
          [leadId(1), ...cells],
          [leadId(2), 'Another name', 'smb', '', 'BW', 'new', '', ''],
          [leadId(90), 'Orphan', 'smb', ...half],
          ['', 'New row', 'smb', ...half],
        ]);
      },
    ],
  },
  {
    name: 'first sync, there is no file',
    service: {},
    sync: {},
    days: [(place) => addLeads(place, 2)],
  },
  {
    name: 'every kind of work, the service replies with the lead',
    service: { stages, trimText: true },
    sync: {},
    days: everyKind,
  },
  {
    name: 'deletions on both sides, the service replies with nothing',
    service: { createReply: 'nothing', updateReply: 'nothing-204' },
    sync: { onConflict: 'target-wins', onLeadDeleted: 'remove', onRowDeleted: 'delete-lead' },
    days: everyDeletion,
  },
  {
    name: 'a create is answered with 500 after the lead was made',
    service: { trimText: true, faults: [errorAfterCreate] },
    sync: {},
    days: newRow,
  },
];
