import type { FieldMapping } from '../../core/lead/mapping.ts';
import { type Cell, type Cells, plainCell, isUnreadable } from '../../core/lead/value.ts';
import { localTime } from '../plan/local-time.ts';
import { followUpField } from '../plan/plan-reminders.ts';
import { oneLine } from './shown-text.ts';

/** A lead for templates: single-line, truncated, not yet escaped. */
export interface LeadView {
  readonly id: string;
  /** `companyName`, or else what identifies the lead. */
  readonly company: string;
  /** Empty when there is none, as `city` and `owner`. */
  readonly stage: string;
  readonly city: string;
  /** The value of the field that names who works on the lead (`ownerNames`). */
  readonly owner: string;
  /** Both again, short enough for a subject with a date. */
  readonly shortCompany: string;
  readonly shortStage: string;
  /** Every mapped field by name; empty text for none. */
  readonly fields: Readonly<Record<string, string>>;
  /** Mapped fields that are not empty, in mapping order, without company and follow-up. */
  readonly details: readonly { readonly label: string; readonly value: string }[];
}

const maxName = 120;
const maxValue = 300;
const maxDetails = 20;

/** Names and headings of the field for who works on a lead, without spaces, in lower case; the service documents none. */
const ownerNames = new Set([
  'owner',
  'ownername',
  'owneremail',
  'leadowner',
  'accountowner',
  'companyowner',
  'assignee',
  'assignedto',
  'responsible',
  'salesrep',
  'verantwortlich',
  'verantwortlicher',
  'zuständig',
  'betreuer',
  'inhaber',
]);

const elsewhere = ['companyName', followUpField];

/** A lead for templates; instants in the recipients' zone. */
export function leadView(
  id: string,
  cells: Cells,
  fields: readonly FieldMapping[],
  timeZone: string,
): LeadView {
  const shown = fields.map((mapping) => ({
    ...mapping,
    value: shownCell(cells[mapping.field] ?? null, mapping, timeZone),
  }));
  const company = oneLine(textOf(cells['companyName'] ?? null), maxName) || `Lead ${oneLine(id, maxName)}`;
  const stage = oneLine(textOf(cells['stage'] ?? null), maxName);
  const namesOwner = (name: string): boolean =>
    ownerNames.has(
      name
        .normalize('NFC')
        .toLowerCase()
        .replaceAll(/[\s_-]/g, ''),
    );
  const owner = fields.find(({ field, column }) => namesOwner(field) || namesOwner(column))?.field;
  return {
    id: oneLine(id, maxName),
    company,
    stage,
    city: oneLine(textOf(cells['city'] ?? null), maxName),
    owner: owner === undefined ? '' : oneLine(textOf(cells[owner] ?? null), maxName),
    shortCompany: oneLine(company, 70),
    shortStage: oneLine(stage, 30),
    fields: Object.fromEntries(shown.map(({ field, value }) => [field, value])),
    details: shown
      .filter(({ field, value }) => value !== '' && !elsewhere.includes(field))
      .slice(0, maxDetails)
      .map(({ column, value }) => ({ label: oneLine(column, maxName), value })),
  };
}

/** A cell as single-line text; an instant as day and time in the zone. Empty text for none. */
export function shownCell(cell: Cell, { type }: Pick<FieldMapping, 'type'>, timeZone: string): string {
  const text = textOf(cell);
  if (type === 'instant' && !isUnreadable(cell) && text !== '') {
    const { day, time, zone } = localTime(Date.parse(text), timeZone);
    return `${day}, ${time} ${zone}`;
  }
  return oneLine(text, maxValue);
}

function textOf(cell: Cell): string {
  return plainCell(cell) ?? '';
}

/** The lead's URL by a template such as `https://app.example.com/leads/{id}`; null without a template. */
export function leadLink(template: string | null, id: string): string | null {
  return template?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed())) ?? null;
}
