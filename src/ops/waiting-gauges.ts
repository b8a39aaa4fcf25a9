import type { Registry } from 'prom-client';
import type pg from 'pg';
import { heldFigures, mailFigures, throttleFigures } from '../store/figures.ts';
import { type FigureSource, gaugesIn, type WatchedConnection } from './figure-source.ts';

/** Jobs of a queue by state. */
export type QueueCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;

const kinds = ['reminder', 'digest'] as const;
/** Shown as 0 too, so that an alert can compare with before. */
const mailStates = ['scheduled', 'sending', 'sent', 'missed', 'failed'] as const;
const stats = ['median', 'p95', 'max'] as const;

/** Gauges of what waits in the database: for a person, for its moment, for the service. As with runs, any worker tells them. */
export function waitingSources(
  registry: Registry,
  pool: pg.Pool,
  connections: readonly WatchedConnection[],
): readonly FigureSource[] {
  const names = connections.map(({ name }) => name);
  return [
    heldSource(registry, pool, names),
    mailSource(registry, pool, names),
    throttleSource(registry, pool, connections),
  ];
}

function heldSource(registry: Registry, pool: pg.Pool, names: readonly string[]): FigureSource {
  const held = gaugesIn(registry)(
    'held_items',
    ['connection'],
    'Fields and records that are held now and wait for a person',
  );
  return {
    name: 'held',
    gauges: [held],
    async read() {
      const figures = await heldFigures(pool, names);
      return () => {
        for (const connection of names) held.set({ connection }, 0);
        for (const { connection, count } of figures) held.set({ connection }, count);
      };
    },
  };
}

function mailSource(registry: Registry, pool: pg.Pool, names: readonly string[]): FigureSource {
  const gauge = gaugesIn(registry);
  const mails = gauge(
    'reminders',
    ['connection', 'kind', 'state'],
    'Reminders and digests that the history still has, by state',
  );
  const late = gauge(
    'reminder_lateness_seconds',
    ['connection', 'kind'],
    'How late the oldest one is that is due and not sent; 0 when none is',
  );
  const sentLate = gauge(
    'reminder_sent_lateness_seconds',
    ['connection', 'kind', 'stat'],
    'How late those of the last 24 hours were sent',
  );
  return {
    name: 'reminders',
    gauges: [mails, late, sentLate],
    async read() {
      const figures = await mailFigures(pool, names);
      return () => {
        for (const connection of names)
          for (const kind of kinds) {
            for (const state of mailStates) mails.set({ connection, kind, state }, 0);
            late.set({ connection, kind }, 0);
          }
        for (const { connection, kind, state, count, lateSeconds, sentLateSeconds } of figures) {
          mails.set({ connection, kind, state }, count);
          // Scheduled and being sent are two rows of one kind: the later one counts, which comes last.
          if (lateSeconds !== null) late.set({ connection, kind }, lateSeconds);
          sentLateSeconds?.forEach((seconds, index) => {
            const stat = stats[index];
            if (stat !== undefined) sentLate.set({ connection, kind, stat }, seconds);
          });
        }
      };
    },
  };
}

function throttleSource(
  registry: Registry,
  pool: pg.Pool,
  connections: readonly WatchedConnection[],
): FigureSource {
  const throttledUntil = gaugesIn(registry)(
    'throttled_until_timestamp_seconds',
    ['connection'],
    'No request leaves for the Leads service before this moment, as it asked; 0 when it never did',
  );
  return {
    name: 'throttles',
    gauges: [throttledUntil],
    async read() {
      const figures = await throttleFigures(
        pool,
        connections.map(({ throttleScope }) => throttleScope),
      );
      const until = new Map(figures.map((figure) => [figure.scope, figure.until]));
      return () => {
        for (const { name: connection, throttleScope } of connections)
          throttledUntil.set({ connection }, until.get(throttleScope) ?? 0);
      };
    },
  };
}

/** Jobs in the queues that this process has opened; a worker opens all of its connections. */
export function queueSource(
  registry: Registry,
  queueCounts: () => Promise<ReadonlyMap<string, QueueCounts>>,
): FigureSource {
  const jobs = gaugesIn(registry)('queue_jobs', ['queue', 'state'], 'Jobs in a queue');
  return {
    name: 'queues',
    gauges: [jobs],
    async read() {
      const counts = await queueCounts();
      return () => {
        for (const [queue, byState] of counts)
          for (const [state, count] of Object.entries(byState)) jobs.set({ queue, state }, count);
      };
    },
  };
}
