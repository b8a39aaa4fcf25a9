import type { Fault } from './faults.ts';
import type { IdKind, SandboxClock, SandboxLead } from './lead-table.ts';
import type { RateLimit } from './rate-limit.ts';

interface SandboxStart {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly leads: number;
  readonly seed: number;
  /** Epoch ms around which seeded follow-ups lie; undefined: the moment of the start. */
  readonly now: number | undefined;
  readonly idKind: IdKind;
  /** Chance comes from the seed alone. */
  readonly clock: SandboxClock;
}

/** The answers to what the API reference leaves open ("not shown"), and the faults. All of it can change while it runs. */
export interface SandboxBehaviour {
  /** Undefined: one made from the seed. */
  readonly apiKey: string | undefined;
  /** The key's scopes. `leads:read` is the reference's (section 5); the other names are invented. */
  readonly permissions: readonly string[];

  /** Items on a page when `limit` is not sent. */
  readonly defaultLimit: number;
  /** A larger `limit` gives this many. */
  readonly maxLimit: number;
  /** A page request that carries `limit`, or one above `maxLimit`, is answered 400. */
  readonly rejectLimit: boolean | 'above-max';
  /** `random-per-request` draws a new order for each page, so that pages of one scan do not fit together. */
  readonly order: 'created' | 'random' | 'random-per-request';
  /** Every page also repeats this many of the last items of the page before it; it still holds at most `limit`. */
  readonly repeatItems: number;
  /** By id what pages show of a lead in place of what is stored: a list that is behind, or (null) leaves one out. */
  readonly listedAs: ReadonlyMap<string, SandboxLead | null>;
  readonly cursorLifetimeMs: number;

  /** How "no follow-up" is shown. */
  readonly nullFollowUp: 'null' | 'absent';
  /** `seconds` drops the milliseconds. */
  readonly followUpFormat: 'millis' | 'seconds';
  /** Leads also have `ownerEmail` (text) and `employees` (number), and any other field that is written is kept. */
  readonly extraFields: boolean;

  readonly createReply: 'lead' | 'wrapped' | 'location' | 'nothing';
  /** With 204 there is no body, whatever `createReply` says; `location` still sends its header. */
  readonly createStatus: number;
  readonly getReply: 'lead' | 'wrapped';
  readonly updateReply: 'lead' | 'wrapped' | 'nothing-204';
  readonly deleteStatus: 204 | 200;
  readonly errorShape: 'flat' | 'nested' | 'array' | 'text' | 'empty';

  readonly invalidStatus: 400 | 422;
  /** Writes to these fields are accepted and have no effect. */
  readonly ignoredFields: readonly string[];
  /** Allowed values; undefined: any text. With `stages`, a new lead without a stage gets the first one. */
  readonly stages: readonly string[] | undefined;
  readonly segments: readonly string[] | undefined;
  /** Fields that must not be empty on create, nor become empty later. */
  readonly requiredFields: readonly string[];
  /** Text is stored without white space at its ends. */
  readonly trimText: boolean;

  readonly faults: readonly Fault[];
  /** More requests get 429, with Retry-After in whole seconds, rounded up. Undefined: there is no limit. */
  readonly rate: RateLimit | undefined;
  /** What happens to requests that come before an announced Retry-After has passed: 429 again, or only counted. */
  readonly rateWindow: 'refuse' | 'count';
  /** Ms after a 429 in which requests are not early: they may have left before it came. 0 fits a client that sends one at a time. */
  readonly earlyGraceMs: number;
}

export interface SandboxOptions extends SandboxStart, SandboxBehaviour {}

export const defaultOptions: SandboxOptions = {
  host: '127.0.0.1',
  port: 0,
  leads: 250,
  seed: 1,
  now: undefined,
  idKind: 'uuid7',
  clock: { now: () => Date.now() },
  apiKey: undefined,
  permissions: ['leads:read', 'leads:create', 'leads:update', 'leads:delete'],
  defaultLimit: 50,
  maxLimit: 200,
  rejectLimit: false,
  order: 'created',
  repeatItems: 0,
  listedAs: new Map(),
  cursorLifetimeMs: 3_600_000,
  nullFollowUp: 'null',
  followUpFormat: 'millis',
  extraFields: false,
  createReply: 'lead',
  createStatus: 201,
  getReply: 'lead',
  updateReply: 'lead',
  deleteStatus: 204,
  errorShape: 'flat',
  invalidStatus: 422,
  ignoredFields: [],
  stages: undefined,
  segments: undefined,
  requiredFields: ['companyName'],
  trimText: false,
  faults: [],
  rate: undefined,
  rateWindow: 'refuse',
  earlyGraceMs: 0,
};
