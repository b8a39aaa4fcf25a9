import type { Fault } from './faults.ts';
import type { IdKind, SandboxLead } from './lead-table.ts';
import type { RateLimit } from './rate-limit.ts';

const start = {
  host: '127.0.0.1',
  /** 0: any free port. */
  port: 0,
  leads: 250,
  /** Chance comes from it alone. */
  seed: 1,
  /** Epoch ms around which seeded follow-ups lie; undefined: the moment of the start. */
  now: undefined as number | undefined,
  idKind: 'uuid7' as IdKind,
  clock: { now: () => Date.now() },
};

/** The answers to what the API reference leaves open ("not shown"), and the faults. All of it can change while it runs. */
const behaviour = {
  /** Undefined: one made from the seed. */
  apiKey: undefined as string | undefined,
  /** The key's scopes. `leads:read` is the reference's (section 5); the other names are invented. */
  permissions: ['leads:read', 'leads:create', 'leads:update', 'leads:delete'] as readonly string[],

  /** Items on a page when `limit` is not sent. */
  defaultLimit: 50,
  /** A larger `limit` gives this many. */
  maxLimit: 200,
  /** A page request that carries `limit`, or one above `maxLimit`, is answered 400. */
  rejectLimit: false as boolean | 'above-max',
  /** `random-per-request` draws a new order for each page, so that pages of one scan do not fit together. */
  order: 'created' as 'created' | 'random' | 'random-per-request',
  /** Every page also repeats this many of the last items of the page before it; it still holds at most `limit`. */
  repeatItems: 0,
  /** By id what pages show of a lead in place of what is stored: a list that is behind, or (null) leaves one out. */
  listedAs: new Map() as ReadonlyMap<string, SandboxLead | null>,
  cursorLifetimeMs: 3_600_000,

  /** How "no follow-up" is shown. */
  nullFollowUp: 'null' as 'null' | 'absent',
  /** `seconds` drops the milliseconds. */
  followUpFormat: 'millis' as 'millis' | 'seconds',
  /** Leads also have `ownerEmail` (text) and `employees` (number), and any other field that is written is kept. */
  extraFields: false,

  createReply: 'lead' as 'lead' | 'wrapped' | 'location' | 'nothing',
  /** With 204 there is no body, whatever `createReply` says; `location` still sends its header. */
  createStatus: 201,
  getReply: 'lead' as 'lead' | 'wrapped',
  updateReply: 'lead' as 'lead' | 'wrapped' | 'nothing-204',
  deleteStatus: 204 as 204 | 200,
  errorShape: 'flat' as 'flat' | 'nested' | 'array' | 'text' | 'empty',

  invalidStatus: 422 as 400 | 422,
  /** Writes to these fields are accepted and have no effect. */
  ignoredFields: [] as readonly string[],
  /** Allowed values; undefined: any text. With `stages`, a new lead without a stage gets the first one. */
  stages: undefined as readonly string[] | undefined,
  segments: undefined as readonly string[] | undefined,
  /** Fields that must not be empty on create, nor become empty later. */
  requiredFields: ['companyName'] as readonly string[],
  /** Text is stored without white space at its ends. */
  trimText: false,

  faults: [] as readonly Fault[],
  /** More requests get 429, with Retry-After in whole seconds, rounded up. Undefined: there is no limit. */
  rate: undefined as RateLimit | undefined,
  /** What happens to requests that come before an announced Retry-After has passed: 429 again, or only counted. */
  rateWindow: 'refuse' as 'refuse' | 'count',
  /** Ms after a 429 in which requests are not early: they may have left before it came. 0 fits a client that sends one at a time. */
  earlyGraceMs: 0,
};

export type SandboxBehaviour = Readonly<typeof behaviour>;
export type SandboxOptions = Readonly<typeof start> & SandboxBehaviour;

export const defaultOptions: SandboxOptions = { ...start, ...behaviour };
