import type { ConnectionConfig } from '../../src/config/config.ts';
import { defaultFields, type FieldMapping } from '../../src/core/lead/mapping.ts';
import type { SandboxBehaviour, SandboxOptions } from '../../src/demo/options.ts';
import type { Random } from '../../src/demo/random.ts';
import type { Fate } from './life.ts';
import type { Trouble } from './nights.ts';
import type { Moment } from './online-table.ts';
import { randomDav } from './dav-folder.ts';
import { randomGraph } from './graph-folder.ts';
import type { OnlineSettings } from './open-online.ts';
import type { PortalSettings } from './portal.ts';
import type { SpreadsheetSettings } from './spreadsheet.ts';

export interface Customs {
  /** Chances of what people do, in relation to each other. */
  readonly weights: Readonly<Record<Deed, number>>;
  /** Not having seen what was written a moment ago: what a row or cell showed before is what is replaced. */
  readonly isHasty?: boolean;
  /** Between a look and its write: what is typed may be written over (sheets-gaps.ts). */
  readonly isInGap?: boolean;
}
export type Deed =
  | 'edit-row'
  | 'edit-lead'
  | 'insert-row'
  | 'copy-row'
  | 'copy-with-id'
  | 'sort'
  | 'delete-row'
  | 'add-lead'
  | 'delete-lead'
  | 'insert-below'
  | 'blank-row'
  | 'move-column'
  | 'set-stage'
  | 'pause-row'
  | Mishap;

/** What happens by accident (mishaps.ts). */
const mishaps = [
  'cut-file',
  'short-row',
  'merge-cells',
  'break-id',
  'clear-ids',
  'clear-and-edit',
  'recase-ids',
  'note-below',
  'merge-companies',
  'shift-cells',
  'stray-quotes',
  'move-to-branch',
] as const;
export type Mishap = (typeof mishaps)[number];

export function isMishap(deed: Deed): deed is Mishap {
  return mishaps.some((one) => one === deed);
}

export const none: Readonly<Record<Deed, number>> = {
  'edit-row': 0,
  'edit-lead': 0,
  'insert-row': 0,
  'copy-row': 0,
  'copy-with-id': 0,
  sort: 0,
  'delete-row': 0,
  'add-lead': 0,
  'delete-lead': 0,
  'insert-below': 0,
  'blank-row': 0,
  'move-column': 0,
  'cut-file': 0,
  'short-row': 0,
  'merge-cells': 0,
  'break-id': 0,
  'clear-ids': 0,
  'clear-and-edit': 0,
  'recase-ids': 0,
  'note-below': 0,
  'merge-companies': 0,
  'shift-cells': 0,
  'stray-quotes': 0,
  'move-to-branch': 0,
  'set-stage': 0,
  'pause-row': 0,
};

/** What moves rows or columns, or makes rows of others. */
export const inOrder: ReadonlySet<Deed> = new Set([
  'insert-row',
  'copy-row',
  'copy-with-id',
  'sort',
  'delete-row',
  'insert-below',
  'blank-row',
  'move-column',
]);

type Direction = FieldMapping['direction'];

export interface Settings extends OnlineSettings {
  readonly sync: Partial<ConnectionConfig['sync']>;
  readonly fields: readonly FieldMapping[];
  readonly query: Readonly<Record<string, string>>;
  readonly statusColumn: boolean;
  readonly format: Format;
  /** Another connection has a table of its own (branch.ts). */
  readonly hasBranch: boolean;
  /** The table is long enough for cells that are shifted to be told from edits. */
  readonly isLong: boolean;
}

export const formats = ['csv', 'xlsx', 'google-sheets', 'hubspot', 'webdav', 'msgraph'] as const;
export type Format = (typeof formats)[number];

/** `forced`: the format, whatever chance would say. */
export function randomSettings(
  random: Random,
  on: ReadonlySet<Trouble>,
  forced: Format | null,
  { stages, ignoredFields = [] }: Partial<SandboxOptions> = {},
): Settings {
  const sync: Writable<Partial<ConnectionConfig['sync']>> = {
    ...(on.has('quick') && { proveAfter: 6 * 3_600_000 }),
  };
  const asks = on.has('quick') ? (['ask'] as const) : [];
  if (on.has('policies'))
    Object.assign(sync, {
      onConflict: random.pick(['hold', 'leads-win', 'target-wins']),
      onLeadDeleted: random.pick(['mark', 'keep', 'remove', ...asks]),
      onRowDeleted: random.pick(['restore', 'ignore', 'delete-lead', ...asks]),
    });
  const fields = on.has('directions') ? randomDirections(random, sync) : defaultFields;
  const hasBranch = on.has('moved-rows') && random.below(4) === 0;
  const settings = {
    sync,
    fields,
    hasBranch,
    isLong: on.has('shifted-cells') && random.below(3) === 0,
    // Every lead is found, but for those of another connection: yet a filtered scan proves no deletion.
    query: (on.has('filters') && random.below(6) === 0) || hasBranch ? { name: 'company' } : {},
    statusColumn: random.below(2) === 0,
  };
  const format = forced ?? randomFormat(random, on);
  const mayTrim =
    stages === undefined &&
    ignoredFields.length === 0 &&
    sync.onConflict !== 'target-wins' &&
    fields.every(({ direction }) => direction === 'two-way');
  return {
    ...settings,
    format,
    spreadsheet: format === 'google-sheets' ? randomSpreadsheet(random) : null,
    portal: format === 'hubspot' ? randomPortal(random, mayTrim) : null,
    dav: format === 'webdav' ? randomDav(random) : null,
    graph: format === 'msgraph' ? randomGraph(random) : null,
  };
}

function randomFormat(random: Random, on: ReadonlySet<Trouble>): Format {
  if (on.has('sheets') && random.below(4) === 0) return 'google-sheets';
  return on.has('xlsx') && random.below(5) === 0 ? 'xlsx' : 'csv';
}

/** Mostly with more requests than anybody needs; else with Google's quotas, which others may use, too. */
function randomSpreadsheet(random: Random): SpreadsheetSettings {
  return {
    locale: random.pick(['en_US', 'de_DE']),
    quota: random.pick([
      { allowed: 10_000, ours: 10_000 },
      { allowed: 10_000, ours: 10_000 },
      { allowed: 60, ours: 60 },
      { allowed: 25, ours: 60 },
    ]),
  };
}

/**
 * What HubSpot's reference leaves open, and how many requests the portal allows. `mayTrim`: what a portal has trimmed travels
 * to the service like an edit. So it is written each night anew where the service does not take it, or may not get it, and
 * with target-wins it wins over what somebody has typed there meanwhile: limits (docs/hubspot.md, "What leadsync does").
 */
function randomPortal(random: Random, mayTrim: boolean): PortalSettings {
  return {
    order: random.pick(['shuffled', 'input']),
    partial: random.pick(['207', '200']),
    traceIds: random.below(4) > 0,
    trim: random.below(3) === 0 && mayTrim,
    limits: random.pick([null, { tenSeconds: 100, daily: 250_000 }, { tenSeconds: 15, daily: 250_000 }]),
    followUp: random.pick(['datetime', 'datetime', 'string']),
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Mostly two-way; else one way for a field or two, or for the whole connection. */
function randomDirections(
  random: Random,
  sync: Writable<Partial<ConnectionConfig['sync']>>,
): readonly FieldMapping[] {
  const one = random.pick<Direction>(['to-target', 'to-leads']);
  const kind = random.below(6);
  if (kind === 0) sync.direction = one;
  return defaultFields.map((mapping) => {
    const oneWay = kind === 0 || (kind === 1 && random.below(3) === 0);
    return oneWay
      ? { ...mapping, direction: kind === 0 ? one : random.pick<Direction>(['to-target', 'to-leads']) }
      : mapping;
  });
}

export function randomCustoms(random: Random, on: ReadonlySet<Trouble>): Customs {
  const deletes = on.has('deletes') ? 1 : 0;
  return {
    weights: {
      'edit-row': 1 + random.below(8),
      'edit-lead': 1 + random.below(8),
      'insert-row': random.below(4),
      'copy-row': random.below(3),
      'copy-with-id': deletes * random.float() * 0.5,
      sort: random.below(2),
      'delete-row': deletes * random.below(2),
      'add-lead': random.below(3),
      'delete-lead': deletes * random.below(2),
      'insert-below': 0,
      'blank-row': 0,
      'move-column': 0,
      'cut-file': on.has('cut-files') ? 0.4 : 0,
      'short-row': on.has('cut-files') ? 0.4 : 0,
      'merge-cells': on.has('merged-cells') ? 0.4 : 0,
      'break-id': on.has('broken-ids') ? 0.4 : 0,
      'clear-ids': on.has('cleared-ids') ? 0.4 : 0,
      'clear-and-edit': on.has('cleared-ids') ? 0.3 : 0,
      'recase-ids': on.has('recased-ids') ? 0.3 : 0,
      'note-below': on.has('notes') ? 0.2 : 0,
      'merge-companies': on.has('merged-companies') ? 0.4 : 0,
      'shift-cells': on.has('shifted-cells') ? 0.8 : 0,
      'stray-quotes': on.has('stray-quotes') ? 0.5 : 0,
      'move-to-branch': on.has('moved-rows') ? 0.6 : 0,
      'set-stage': on.has('changed-filters') ? 3 : 0,
      'pause-row': on.has('paused-rows') ? 0.5 : 0,
    },
  };
}

/** What people also do in a spreadsheet that all have open at once. */
export function inSpreadsheet({ weights }: Customs): Customs {
  return { weights: { ...weights, 'insert-below': 0.7, 'blank-row': 0.3, 'move-column': 0.5 } };
}

/** In a CRM an id is there once, and nothing has a place that it could be moved from. */
export function inPortal({ weights }: Customs): Customs {
  const not = { 'copy-with-id': 0, sort: 0, 'break-id': 0, 'clear-ids': 0, 'clear-and-edit': 0 };
  const notMoved = { 'shift-cells': 0, 'move-to-branch': 0 };
  return { weights: { ...weights, ...not, ...notMoved, 'recase-ids': 0, 'note-below': 0 } };
}

/** What somebody can do in a portal between two requests of a write. */
export function atOnceInPortal({ weights }: Customs, { kind }: Moment): Customs {
  const { 'edit-row': edits, 'delete-row': deletes } = weights;
  return {
    weights: { ...none, 'edit-row': edits, 'delete-row': deletes, 'insert-row': 1 },
    isHasty: true,
    isInGap: kind === 'gap',
  };
}

/**
 * What somebody can do to a spreadsheet in the tenths of a second between two requests of a write: one thing. A row is
 * inserted blank, and filled later; one that is pasted whole goes below the table. Rows are not moved twice within one
 * write, which is a limit (sheets-gaps.ts).
 */
export function atOnce({ weights }: Customs, { kind, isMoved }: Moment): Customs {
  const { 'edit-row': edits, 'delete-row': deletes } = weights;
  const moves = { 'delete-row': deletes, sort: 1, 'insert-below': 1, 'blank-row': 1, 'move-column': 0.7 };
  return {
    weights: { ...none, 'edit-row': edits / 2, ...(!isMoved && moves) },
    isHasty: true,
    isInGap: kind === 'gap',
  };
}

export function randomFate(random: Random, on: ReadonlySet<Trouble>): Fate {
  const how = random.pick<Fate['how']>([
    'crash-before',
    'crash-after',
    'crash-after',
    'stop',
    ...(on.has('leases') ? (['lease-stolen'] as const) : []),
  ]);
  return { at: 1 + Math.floor(random.float() ** 1.5 * 400), how };
}

/** A fate that comes at a request to the spreadsheet, of which there are far fewer than of other operations. */
export function fateAtRequest(random: Random, fate: Fate): Fate {
  return { ...fate, at: 1 + random.below(30), ofRequests: true };
}

export function randomAnswers(random: Random): Partial<SandboxOptions> {
  const rarely = <T>(value: T, other: T): T => (random.below(5) === 0 ? value : other);
  const answers: Partial<SandboxBehaviour> = {
    createReply: random.pick(['lead', 'wrapped', 'location', 'nothing']),
    createStatus: random.pick([200, 201, 204]),
    getReply: random.pick(['lead', 'wrapped']),
    updateReply: random.pick(['lead', 'wrapped', 'nothing-204']),
    deleteStatus: random.pick([204, 200]),
    errorShape: random.pick(['flat', 'nested', 'array', 'text', 'empty']),
    invalidStatus: random.pick([400, 422]),
    maxLimit: random.pick([3, 5, 10, 200]),
    defaultLimit: random.pick([4, 50]),
    rejectLimit: ([true, 'above-max', false] as const)[random.below(3)] ?? false,
    order: random.pick(['created', 'created', 'random', 'random-per-request']),
    repeatItems: rarely(2, 0),
    nullFollowUp: random.pick(['null', 'absent']),
    followUpFormat: random.pick(['millis', 'seconds']),
    extraFields: random.below(2) === 0,
    ignoredFields: rarely(['region'], []),
    trimText: random.below(3) === 0,
    ...(random.below(6) === 0 && { stages: ['new', 'won', 'lost'] }),
  };
  return { ...answers, idKind: random.pick(['uuid7', 'uuid7', 'other']) };
}
