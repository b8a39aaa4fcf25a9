import type { Registry } from 'prom-client';
import type pg from 'pg';
import { actionFigures, lastRunFigures, openRunFigures, outcomeFigures } from '../store/figures.ts';
import { type FigureSource, gaugesIn, type WatchedConnection } from './figure-source.ts';

const modes = ['sync', 'plan'] as const;
const outcomes = ['succeeded', 'partial', 'stopped', 'failed'] as const;

/**
 * Gauges of runs, of what the database holds: any worker tells all of them, also one that ran nothing itself. They count
 * what the history still has and go down when it is pruned, so none of them is a counter.
 */
export function runSources(
  registry: Registry,
  pool: pg.Pool,
  connections: readonly WatchedConnection[],
): readonly FigureSource[] {
  const names = connections.map(({ name }) => name);
  return [
    outcomeSource(registry, pool, connections),
    lastRunSource(registry, pool, names),
    openRunSource(registry, pool, names),
    actionSource(registry, pool, names),
  ];
}

function outcomeSource(
  registry: Registry,
  pool: pg.Pool,
  connections: readonly WatchedConnection[],
): FigureSource {
  const gauge = gaugesIn(registry);
  const runs = gauge(
    'runs',
    ['connection', 'mode', 'status'],
    'Finished runs that the history still has, by how they ended',
  );
  const successAt = gauge(
    'last_success_timestamp_seconds',
    ['connection'],
    'End of the newest sync that was carried out: succeeded, or partial with something held or put off; missing when there is none',
  );
  const successAge = gauge(
    'last_success_age_seconds',
    ['connection'],
    'Time since that end by the clock of the database; +Inf when no sync was carried out so far',
  );
  const dueAt = gauge(
    'last_due_timestamp_seconds',
    ['connection'],
    'When the schedule was due for the last time',
  );
  return {
    name: 'runs',
    gauges: [runs, successAt, successAge, dueAt],
    async read() {
      const figures = await outcomeFigures(
        pool,
        connections.map(({ name }) => name),
      );
      return () => {
        for (const { name: connection, lastDue } of connections) {
          for (const mode of modes) for (const status of outcomes) runs.set({ connection, mode, status }, 0);
          dueAt.set({ connection }, lastDue() / 1000);
          const good = figures.filter(
            ({ connection: whose, status }) =>
              whose === connection && (status === 'succeeded' || status === 'partial'),
          );
          const times = good.flatMap(({ lastAt }) => lastAt ?? []);
          if (times.length > 0) successAt.set({ connection }, Math.max(...times));
          successAge.set({ connection }, Math.min(...good.flatMap(({ lastAge }) => lastAge ?? [])));
        }
        for (const { connection, mode, status, count } of figures)
          runs.set({ connection, mode, status }, count);
      };
    },
  };
}

function lastRunSource(registry: Registry, pool: pg.Pool, names: readonly string[]): FigureSource {
  const gauge = gaugesIn(registry);
  const state = gauge(
    'last_run_status',
    ['connection', 'status'],
    'How the newest sync ended: 1 for that, 0 for the others',
  );
  const at = gauge('last_run_timestamp_seconds', ['connection'], 'End of the newest sync, however it ended');
  const duration = gauge(
    'last_run_duration_seconds',
    ['connection'],
    'From its begin to its end, with all waits',
  );
  const waited = gauge(
    'last_run_waited_seconds',
    ['connection'],
    'Of that, waited: for Retry-After, a quota or the next try',
  );
  const records = gauge(
    'last_run_records',
    ['connection', 'side'],
    'Leads that it pulled, and rows that it read',
  );
  const requests = gauge('last_run_requests', ['connection', 'side'], 'Requests that it sent');
  const putOff = gauge('last_run_put_off', ['connection'], 'What it put off to the next run');
  return {
    name: 'last_run',
    gauges: [state, at, duration, waited, records, requests, putOff],
    async read() {
      const figures = await lastRunFigures(pool, names);
      return () => {
        for (const { connection, ...run } of figures) {
          for (const status of outcomes) state.set({ connection, status }, Number(status === run.status));
          at.set({ connection }, run.finishedAt);
          duration.set({ connection }, run.duration);
          waited.set({ connection }, run.waited);
          records.set({ connection, side: 'leads' }, run.pulled);
          records.set({ connection, side: 'target' }, run.targetRows);
          requests.set({ connection, side: 'leads' }, run.leadRequests);
          requests.set({ connection, side: 'target' }, run.targetRequests);
          putOff.set({ connection }, run.putOff);
        }
      };
    },
  };
}

function openRunSource(registry: Registry, pool: pg.Pool, names: readonly string[]): FigureSource {
  const gauge = gaugesIn(registry);
  const labels = ['connection', 'mode'];
  const isOpen = gauge('run_open', labels, '1 while a run is under way, waits, or was interrupted');
  const started = gauge('open_run_started_timestamp_seconds', labels, 'Begin of the run that is open');
  const progress = gauge(
    'open_run_progress_timestamp_seconds',
    labels,
    'When the run that is open last got a step further',
  );
  return {
    name: 'open_run',
    gauges: [isOpen, started, progress],
    async read() {
      const figures = await openRunFigures(pool, names);
      return () => {
        for (const connection of names) for (const mode of modes) isOpen.set({ connection, mode }, 0);
        for (const { connection, mode, startedAt, progressAt } of figures) {
          isOpen.set({ connection, mode }, 1);
          started.set({ connection, mode }, startedAt);
          progress.set({ connection, mode }, progressAt);
        }
      };
    },
  };
}

function actionSource(registry: Registry, pool: pg.Pool, names: readonly string[]): FigureSource {
  const actions = gaugesIn(registry)(
    'last_run_actions',
    ['connection', 'kind', 'state'],
    'Actions of the newest sync that ended, by what became of them',
  );
  return {
    name: 'actions',
    gauges: [actions],
    async read() {
      const figures = await actionFigures(pool, names);
      return () => {
        for (const { connection, kind, state, count } of figures)
          actions.set({ connection, kind, state }, count);
      };
    },
  };
}
