import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { type FieldMapping, followUpField } from '../../core/lead/mapping.ts';
import { type Cell, type Cells, isUnreadable, plainCell } from '../../core/lead/value.ts';
import { dayOf } from '../../core/lead/instant.ts';
import { localTime, startOfDay } from '../plan/local-time.ts';
import { oneLine } from './shown-text.ts';
import { basename } from 'node:path';
import { isSharingLink } from '../../config/addresses.ts';
import type { ConnectionConfig } from '../../config/config.ts';

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

export interface Reader {
  readonly language: string;
  /** IANA zone of the recipient. */
  readonly timeZone: string;
  /** IANA zone in which the table's dates without a time are meant. */
  readonly dayZone: string;
}

/** A lead for templates: single-line, truncated, not yet escaped. */
export function leadView(id: string, cells: Cells, fields: readonly FieldMapping[], reader: Reader) {
  const shown = fields.map((mapping) => ({
    ...mapping,
    value: shownCell(cells[mapping.field] ?? null, mapping, reader),
  }));
  const name = oneLine(textOf(cells['companyName'] ?? null), maxName);
  const company = name || oneLine(id, maxName);
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
    /** `companyName`, or else the id. */
    company,
    isNamed: name !== '',
    /** Empty when there is none, as `city` and `owner`. */
    stage,
    city: oneLine(textOf(cells['city'] ?? null), maxName),
    /** The value of the field that names who works on the lead (`ownerNames`). */
    owner: owner === undefined ? '' : oneLine(textOf(cells[owner] ?? null), maxName),
    /** Both again, short enough for a subject with a date. */
    shortCompany: oneLine(company, 70),
    shortStage: oneLine(stage, 30),
    fields: Object.fromEntries(shown.map(({ field, value }) => [field, value])),
    /** Mapped fields that are not empty, in mapping order, without company and follow-up. */
    details: shown
      .filter(({ field, value }) => value !== '' && !elsewhere.includes(field))
      .slice(0, maxDetails)
      .map(({ column, value }) => ({ label: oneLine(column, maxName), value })),
  };
}

/** A cell as single-line text; an instant as day and time in the reader's zone. Empty text for none. */
export function shownCell(cell: Cell, { type }: Pick<FieldMapping, 'type'>, reader: Reader): string {
  const text = textOf(cell);
  if (!fieldKinds[type].isMoment || isUnreadable(cell) || text === '') return oneLine(text, maxValue);
  const at = Date.parse(text);
  const { day, time, zone, isDay } = dueView(at, dayOf(at, reader.dayZone), reader);
  return isDay ? day : `${day}, ${time} ${zone}`;
}

/** An instant (epoch ms) for templates; a date without a time (`day`, `2026-11-21`) is that day in every zone. */
export function dueView(at: number, day: string | null, { timeZone, language }: Reader) {
  const local = localTime(day === null ? at : startOfDay(day, timeZone), timeZone, language);
  return { ...local, isDay: day !== null, timeZone };
}

function textOf(cell: Cell): string {
  return plainCell(cell) ?? '';
}

export function leadLink(template: string | null, id: string): string | null {
  return template?.replaceAll('{id}', () => encodeURIComponent(id.toWellFormed())) ?? null;
}

export interface RowPlace {
  readonly target: string;
  readonly url?: string;
  readonly number: number | null;
  /** A database's table. */
  readonly isTable?: true;
}

const maxTarget = 200;

/** `row`: in HubSpot the record id; `place`: what the target is known by, which names the portal. */
export function rowPlace(
  target: ConnectionConfig['target'],
  row: number | null,
  place: string | null = null,
): RowPlace {
  switch (target.type) {
    case 'workbook':
      return isSharingLink(target.path)
        ? { target: 'Excel', url: target.path, number: row }
        : { target: basename(target.path), number: row };
    case 'google-sheets':
      return {
        target: target.tab,
        url: `https://docs.google.com/spreadsheets/d/${target.spreadsheetId}/edit`,
        number: row,
      };
    case 'hubspot': {
      const [, portal] = /^hubspot:(\d+)\//.exec(place ?? '') ?? [];
      if (portal === undefined || row === null) return { target: 'HubSpot', number: null };
      const url = `https://app.hubspot.com/contacts/${portal}/record/0-2/${row}`;
      return { target: 'HubSpot', url, number: null };
    }
    case 'postgres-table':
      return { target: target.table, number: null, isTable: true };
    default:
      return target satisfies never;
  }
}

export function rowView({ target, url, number, isTable }: RowPlace) {
  return { target: oneLine(target, maxTarget), url: url ?? '', number, isTable: isTable ?? false };
}
