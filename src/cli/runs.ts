import { counted } from '../core/lead/counted.ts';
import { localTime } from '../reminders/plan/local-time.ts';
import { type ListedRun, listRuns } from '../store/run-list.ts';
import type { CommonOptions } from './program.ts';
import { describeProblem, print, printJson, seconds, wholeNumber } from './output.ts';
import { withStore } from './with-store.ts';

interface RunsOptions extends CommonOptions {
  readonly limit: string;
}

/** The longest list. */
const mostListed = 1000;

/** `leadsync runs`: each connection's runs, the latest first, with the numbers for `undo`. */
export function runs(options: RunsOptions): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, mostListed);
  return withStore(options, async (pool, { connections }) => {
    const listed = [];
    for (const { name, sync } of connections) {
      const ofConnection = await listRuns(pool, name, null, limit);
      listed.push(...ofConnection.map((run) => json(name, run)));
      if (options.json) continue;
      print(`${name} (times in ${sync.timeZone})`);
      if (ofConnection.length === 0) print('  no run so far');
      for (const run of ofConnection) print(describe(run, sync.timeZone));
    }
    if (options.json) printJson({ runs: listed });
  });
}

/** The kind of run, in the commands' words. */
function kindOf({ mode, undoOf, isApplied }: ListedRun): 'sync' | 'plan' | 'edit' | 'undo' | 'apply' {
  if (mode !== 'sync') return mode;
  return undoOf !== null ? 'undo' : isApplied ? 'apply' : 'sync';
}

/** Why a run ended early; null otherwise. */
function reasonOf({ status, problem }: ListedRun): ListedRun['problem'] {
  return status === 'stopped' || status === 'failed' ? problem : null;
}

function json(connection: string, run: ListedRun): object {
  const { id, status, undoOf, createdAt, finishedAt, written, held } = run;
  const reason = reasonOf(run);
  return {
    runId: String(id),
    connection,
    kind: kindOf(run),
    ...(undoOf !== null && { undoOf: String(undoOf) }),
    status,
    startedAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    durationMs: finishedAt === null ? null : Math.round(finishedAt - createdAt),
    changes: written,
    held,
    ...(reason !== null && { reason }),
  };
}

/** One narrow line, and below it why a run stopped. */
function describe(run: ListedRun, timeZone: string): string {
  const { id, status, undoOf, createdAt, finishedAt, written, held } = run;
  const { date, time } = localTime(Math.floor(createdAt), timeZone);
  const kind = kindOf(run);
  const whose = undoOf === null ? '' : kind === 'plan' ? ` to undo run ${undoOf}` : ` of run ${undoOf}`;
  const what = kind === 'sync' ? '' : `${kind}${whose}, `;
  const parts = [
    `${what}${status}`,
    kind !== 'plan' && written !== null && (written > 0 ? counted(written, 'change') : 'no change'),
    held !== null && held > 0 && `${held} held`,
    finishedAt !== null && shownSeconds(finishedAt - createdAt),
  ].filter(Boolean);
  const reason = reasonOf(run);
  return [
    `${String(id).padStart(6)}  ${date} ${time}  ${parts.join(', ')}`,
    ...(reason === null ? [] : [`        ${describeProblem(reason)}`]),
  ].join('\n');
}

function shownSeconds(ms: number): string {
  return ms < 60_000 ? seconds(ms) : `${Math.round(ms / 60_000)} min`;
}
