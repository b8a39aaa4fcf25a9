import { type Cell, sameButSpelling, sameCell } from '../../core/lead/value.ts';
import type { CompanyTable } from './company-table.ts';
import { type HubSpotFault, wordsOf } from './hubspot-fault.ts';
import type { BatchReply, SaidFault, ShownCompany } from './hubspot-replies.ts';
import { cellOf } from './property-values.ts';

/** The request input for one company; at most one per company. */
export interface PlannedInput {
  readonly kind: 'update' | 'create' | 'archive';
  /** The record id; for a new company the lead's. */
  readonly id: string;
  readonly leadId: string;
  readonly properties: Readonly<Record<string, string>>;
  /** For updates: the properties' earlier values. */
  readonly before?: Readonly<Record<string, string>>;
}

/**
 * `altered`: HubSpot stores something else, by property; another spelling (case, spaces) counts as stored, and travels to the lead like
 * an edit, unless it equals the earlier value. `missed`: not stored, without a reason. `taken`: another company has the new one's id.
 * `forbidden`: the key may not write. `words`: HubSpot's, shortened. `id`: the company's record id.
 */
export type InputResult =
  | { readonly kind: 'stored'; readonly id?: string }
  | { readonly kind: 'altered'; readonly shown: ReadonlyMap<string, Cell> }
  | { readonly kind: 'refused'; readonly words: string | null }
  | { readonly kind: 'taken'; readonly id: string }
  | { readonly kind: 'forbidden'; readonly fault: HubSpotFault }
  | { readonly kind: 'gone' }
  | { readonly kind: 'missed' };

/** The results in a reply; `unattributed`: errors that name no input. */
export interface ReplyResults {
  readonly known: ReadonlyMap<PlannedInput, InputResult>;
  readonly unknown: readonly PlannedInput[];
  readonly unattributed: SaidFault | null;
  /** Inputs refused because another company has the lead's id, with HubSpot's words. It may be our own. */
  readonly taken: ReadonlyMap<PlannedInput, SaidFault>;
}

/** The status decides nothing: a partial failure may come as success. Input n has trace id n. */
export function resultsOf(
  inputs: readonly PlannedInput[],
  reply: BatchReply,
  table: CompanyTable,
): ReplyResults {
  const known = new Map<PlannedInput, InputResult>();
  const unattributed: SaidFault[] = [];
  const taken = new Map<PlannedInput, SaidFault>();
  for (const error of reply.errors) {
    const concerned = inputs.filter((input, index) => isAbout(error, input, String(index)));
    if (concerned.length === 0) unattributed.push(error);
    for (const input of concerned) {
      if (input.kind === 'create' && isTaken(error)) taken.set(input, error);
      else known.set(input, resultOfError(error, input));
    }
  }
  const byKey = new Map(inputs.map((input) => [input.id, input]));
  for (const company of reply.results) {
    const input = inputOf(company, inputs, byKey, table);
    if (input === undefined || known.has(input) || taken.has(input)) continue;
    const result = resultShown(company, input, table);
    if (result !== null) known.set(input, result);
  }
  // An archive has no results: inputs without errors are archived.
  const rest = inputs.filter((input) => !known.has(input) && !taken.has(input));
  if (unattributed.length === 0) {
    for (const input of rest) if (input.kind === 'archive') known.set(input, { kind: 'stored' });
  }
  return {
    known,
    unknown: rest.filter((input) => !known.has(input)),
    unattributed: unattributed[0] ?? null,
    taken,
  };
}

/** The result of an input that the reply did not mention, by the company's current state; undefined: not shown. */
export function rereadResult(
  input: PlannedInput,
  company: ShownCompany | undefined,
  unattributed: SaidFault | null,
  table: CompanyTable,
): InputResult {
  const refused: InputResult | null =
    unattributed === null ? null : { kind: 'refused', words: wordsOf(unattributed) };
  if (input.kind === 'archive')
    return company === undefined ? { kind: 'stored' } : (refused ?? { kind: 'missed' });
  if (company === undefined)
    return input.kind === 'update' ? { kind: 'gone' } : (refused ?? { kind: 'missed' });
  // An existing property that is left out is empty.
  const empty = Object.fromEntries(Object.keys(input.properties).map((name) => [name, null]));
  const shown = { ...company, properties: { ...empty, ...company.properties } };
  const result = resultShown(shown, input, table);
  if (result?.kind === 'stored') return result;
  if (input.kind === 'create' && unattributed !== null && isTaken(unattributed))
    return { kind: 'taken', id: company.id };
  return refused ?? { kind: 'missed' };
}

/** HubSpot's codes for a taken unique value. */
export function isTaken({ category, code, errors }: SaidFault): boolean {
  return code === 'CONFLICTING_UNIQUE_VALUE' || category === 'CONFLICT' || errors.some(isTaken);
}

/** HubSpot's code for a missing property. */
export function isAboutProperties(error: SaidFault): boolean {
  return error.code === 'PROPERTY_DOESNT_EXIST' || error.errors.some(isAboutProperties);
}

/** Whether a reply to the whole request is about a missing record. */
export function namesRecords({ category, context, errors }: SaidFault): boolean {
  const named = [...(context['ids'] ?? []), ...(context['id'] ?? [])];
  return (category === 'OBJECT_NOT_FOUND' && named.length > 0) || errors.some(namesRecords);
}

export function resultOfError(error: SaidFault, { kind }: PlannedInput): InputResult {
  if (error.category === 'OBJECT_NOT_FOUND')
    return kind === 'archive' ? { kind: 'stored' } : { kind: 'gone' };
  return { kind: 'refused', words: wordsOf(error) };
}

function isAbout({ context }: SaidFault, { id }: PlannedInput, traceId: string): boolean {
  const traces = context['objectWriteTraceId'];
  if (traces !== undefined && traces.length > 0) return traces.includes(traceId);
  return [...(context['ids'] ?? []), ...(context['id'] ?? [])].includes(id);
}

function inputOf(
  company: ShownCompany,
  inputs: readonly PlannedInput[],
  byKey: ReadonlyMap<string, PlannedInput>,
  { idProperty }: CompanyTable,
): PlannedInput | undefined {
  const isByLead = inputs[0]?.kind === 'create';
  if (company.traceId !== null) {
    const input = inputs[Number(company.traceId)];
    // A company merged just now shows another id, possibly another lead's.
    return isByLead || input?.id === company.id ? input : undefined;
  }
  return byKey.get(isByLead ? (company.properties[idProperty] ?? '').trim() : company.id);
}

/** Null: the company does not show all that was sent. */
function resultShown(
  { id, properties }: ShownCompany,
  input: PlannedInput,
  table: CompanyTable,
): InputResult | null {
  const altered = new Map<string, Cell>();
  for (const [name, sent] of Object.entries(input.properties)) {
    const text = properties[name];
    if (text === undefined) return null;
    const shown = shownCell(text, name, table);
    const wanted = shownCell(sent, name, table);
    const before = input.before?.[name];
    const isNew =
      name !== table.idProperty && (before === undefined || !sameCell(shown, shownCell(before, name, table)));
    if (!sameCell(shown, wanted) && !(isNew && sameButSpelling(shown, wanted))) altered.set(name, shown);
  }
  return altered.size === 0 ? { kind: 'stored', id } : { kind: 'altered', shown: altered };
}

export function shownCell(text: string | null, name: string, { fields, timeZone }: CompanyTable): Cell {
  const mapped = [...fields.values()].find(({ property }) => property.name === name);
  return mapped === undefined ? text : cellOf(text, mapped, timeZone);
}
