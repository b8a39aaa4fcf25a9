import type { Run } from '../store/runs.ts';

/** How far a run is, for people, in a few words: `3,400 leads in 34 pages`. */
export function describeProgress({
  phase,
  pulled,
  pages,
  targetRows,
  pausedAt,
}: Pick<Run, 'phase' | 'pulled' | 'pages' | 'targetRows' | 'pausedAt'>): string {
  const waiting = pausedAt === null ? '' : ', waiting as the service asked';
  switch (phase) {
    case 'pull':
      return `${pulled} leads in ${pages} pages${waiting}`;
    case 'read':
      return `${pulled} leads; reading the table${waiting}`;
    case 'plan':
      return `comparing ${pulled} leads with ${targetRows} rows${waiting}`;
    case 'push-leads':
      return `writing to the service${waiting}`;
    default:
      return `writing to the table${waiting}`;
  }
}
