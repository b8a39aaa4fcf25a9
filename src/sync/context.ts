import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { ConnectionConfig } from '../config/config.ts';
import type { InSpan } from '../lib/telemetry.ts';
import type { Policy } from '../core/merge/policy.ts';
import type { Clock } from '../ports/clock.ts';
import type { LeadsPort } from '../ports/leads-service.ts';
import type { Target } from '../ports/target.ts';
import type { RunPolicy } from '../review/run-policy.ts';
import { type Durability, transaction } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import type { Run, RunMode } from '../store/runs.ts';
import type { Service } from '../store/places.ts';
import { serviceScope } from '../store/services.ts';
import type { ScanBounds, ScanMemory } from './scan-bounds.ts';

/** `log`: of the connection. `run`: as stored now; running, or with its report. */
export type OnRun = (log: Logger, run: Run) => void;

/** What a connection needs to sync; lives as long as the process uses the connection. */
export interface SyncContext {
  readonly connection: ConnectionConfig;
  readonly pool: pg.Pool;
  readonly leads: LeadsPort;
  readonly target: Target;
  readonly log: Logger;
  readonly clock: Clock;
  /** How long a lease lives without renewal (ms); default: 30 s. */
  readonly leaseMs?: number;
  /** Default: `usualScanBounds`. */
  readonly scanBounds?: ScanBounds;
  /** Called when a run begins and when it ends. */
  readonly onRun?: OnRun;
  /** Traces each phase of a run. */
  readonly inSpan?: InSpan;
}

export interface LeasedContext extends SyncContext {
  readonly lease: Pick<Lease, 'token' | 'assertHeld'>;
  /** Aborts when the process should stop or the lease is lost; checked between two actions. */
  readonly stop: AbortSignal;
  /**
   * Aborts requests a few seconds after `stop`, so that one under way may still end; at once when the process was away for
   * longer than its lease lives: another process may write by then.
   */
  readonly cut: AbortSignal;
}

export interface StepContext extends LeasedContext {
  /** A person asked for the run. */
  readonly isAsked: boolean;
  readonly runPolicy: RunPolicy;
  readonly memory: ScanMemory;
}

/**
 * A transaction that throws `run.lease-lost` unless this process holds the lease, and rolls back when `fn` throws; `repeatable` is
 * for what a later run would simply do again.
 */
export function inLeasedTransaction<T>(
  { pool, lease }: Pick<LeasedContext, 'pool' | 'lease'>,
  fn: (db: pg.PoolClient) => Promise<T>,
  durability?: Durability,
): Promise<T> {
  const leased = async (db: pg.PoolClient): Promise<T> => {
    await lease.assertHeld(db);
    return fn(db);
  };
  return transaction(pool, leased, durability);
}

/** The scope of what is learned about a service: its address and key. */
export function scopeOf({ leads }: ConnectionConfig): string {
  return serviceScope(leads.baseUrl, leads.apiKey.reveal());
}

export function serviceOf(connection: ConnectionConfig): Service {
  return { baseUrl: connection.leads.baseUrl, account: scopeOf(connection) };
}

/** The part of a connection's settings that decisions depend on. */
export function policyOf(connection: ConnectionConfig): Policy {
  return { ...connection.sync, fields: connection.fields, unseen: [] };
}

/**
 * Short hashes of the settings that decide, by part; without the key. A run is not resumed, and a reviewed plan not
 * carried out, under other settings.
 */
export function settingsHashes(connection: ConnectionConfig): Readonly<Record<SettingsPart, string>> {
  const { leads, target, fields, sync } = connection;
  const short = (part: unknown): string => hash('sha256', JSON.stringify(part), 'base64url').slice(0, 12);
  const matching = sync.match === 'off' ? [] : [sync.match, sync.matchBy];
  return {
    leads: short([leads.baseUrl, leads.query]),
    target: short(target),
    fields: short(fields),
    sync: short([
      sync.direction,
      sync.onConflict,
      sync.onFirstSync,
      sync.onLeadDeleted,
      sync.onRowDeleted,
      sync.proveAfter,
      sync.limits,
      ...matching,
    ]),
  };
}

export type SettingsPart = 'leads' | 'target' | 'fields' | 'sync';

/** Whether the list shows some of the leads only: then one that it lacks may be there. */
export function isFiltered({ connection }: Pick<StepContext, 'connection'>): boolean {
  return Object.keys(connection.leads.query).length > 0;
}

/** The lease of the process that leads the run of a connection in this mode. Requested edits wait for a sync, and a sync for them. */
export function leaseName(connection: string, mode: RunMode): string {
  return `${connection}/${mode === 'edit' ? 'sync' : mode}`;
}

/** How long a request under way may take to end after `stop` (ms). */
const graceMs = 4_000;

/** When the holder of a lease has to stop, and when its requests are cut off; see `LeasedContext`. */
export function signalsOf(lease: Lease, stop: AbortSignal): Pick<StepContext, 'stop' | 'cut'> {
  const stopOrLost = AbortSignal.any([stop, lease.lost]);
  return { stop: stopOrLost, cut: AbortSignal.any([cutAfter(stopOrLost), lease.outlived]) };
}

function cutAfter(stop: AbortSignal): AbortSignal {
  const cut = new AbortController();
  const later = (): void => {
    setTimeout(() => cut.abort(stop.reason), graceMs).unref();
  };
  if (stop.aborted) later();
  else stop.addEventListener('abort', later, { once: true });
  return cut.signal;
}
