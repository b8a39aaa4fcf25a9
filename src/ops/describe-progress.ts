import type { OpenRun } from '../store/run-list.ts';

/** How far a run is, for people, in a few words: `3400 leads in 34 pages`. */
export function describeProgress({
  phase,
  pulled,
  pages,
  targetRows,
  pausedAt,
  writes = null,
}: Omit<OpenRun, 'id' | 'connection' | 'writes'> & Partial<Pick<OpenRun, 'writes'>>): string {
  const waiting = pausedAt === null ? '' : ', waits before it goes on';
  const written = writes === null ? '' : `: ${writes.settled} of ${writes.all}`;
  switch (phase) {
    case 'pull':
      return `${pulled} leads in ${pages} pages${waiting}`;
    case 'read':
      return `${pulled} leads; reading the table${waiting}`;
    case 'plan':
      return `comparing ${pulled} leads with ${targetRows} rows${waiting}`;
    case 'push-leads':
      return `writing to the service${written}${waiting}`;
    case 'push-rows':
      return `writing to the table${written}${waiting}`;
    default:
      return `reading again what was written${waiting}`;
  }
}
