import { count, counted } from '../core/lead/wording.ts';
import type { OpenRun } from '../store/run-list.ts';
import type { SyncReport } from '../sync/report.ts';
import type { Problem } from '../lib/errors.ts';

type Totals = Pick<OpenRun, 'writes' | 'lastPulled'>;

/** The progress of a run in a few words: `3,400 leads, about 34 % of last time's 10,000`. */
export function describeProgress({
  phase,
  pulled,
  pages,
  targetRows,
  pausedAt,
  writes = null,
  lastPulled = null,
}: Omit<OpenRun, 'id' | 'connection' | keyof Totals> & Partial<Totals>): string {
  const waiting = pausedAt === null ? '' : ', waits before it goes on';
  const leads = counted(pulled, 'lead');
  // The number of leads is unknown before the last page: that of the last sync is an estimate.
  const estimate =
    lastPulled === null || lastPulled === 0 || pulled > lastPulled
      ? null
      : `, about ${share(pulled, lastPulled)} of last time's ${count(lastPulled)}`;
  const written =
    writes === null || writes.all === 0
      ? ''
      : `: ${count(writes.settled)} of ${count(writes.all)}, ${share(writes.settled, writes.all)}`;
  switch (phase) {
    case 'pull':
      return `${leads}${estimate ?? ` in ${counted(pages, 'page')}`}${waiting}`;
    case 'read':
      return `${leads}; reading the table${waiting}`;
    case 'plan':
      return `comparing ${leads} with ${counted(targetRows, 'row')}${waiting}`;
    case 'push-leads':
      return `writing to the service${written}${waiting}`;
    case 'push-rows':
      return `writing to the table${written}${waiting}`;
    default:
      return `reading again what was written${waiting}`;
  }
}

/** In whole percent; 100 only when all is done. */
function share(done: number, all: number): string {
  return `${Math.floor((done / all) * 100)} %`;
}

/** How many records a run left in which state, in one line. */
export function describeVerification({
  receipt,
  undoOf,
  pausedRows = 0,
}: Pick<SyncReport, 'receipt' | 'undoOf' | 'pausedRows'>): string {
  const { records, equal, held, putOff, left, unexplained } = receipt;
  const [one, several, whole] =
    undoOf === undefined ? ['record', 'records', 'equal on both sides'] : ['write', 'writes', 'put back'];
  const parts = [
    `${count(equal)} of ${counted(records, one, several)} ${whole}`,
    held > 0 && `${count(held)} held`,
    putOff > 0 && `${count(putOff)} put off`,
    left > 0 && counted(left, 'left as it is', 'left as they are'),
    pausedRows > 0 && counted(pausedRows, 'row paused', 'rows paused'),
    unexplained > 0 && counted(unexplained, 'does not show what was written', 'do not show what was written'),
  ];
  return parts.filter(Boolean).join(', ');
}

/** Where a problem is, as far as its sentence does not say so. `heading`: of its field, or empty. */
export function unsaidPlaces(
  { message, row, leadId }: Problem,
  company: string | null | undefined,
  heading: string,
): readonly string[] {
  const isListed = row !== undefined && new RegExp(`\\brows [\\d, ]*(?<!\\d)${row}(?!\\d)`).test(message);
  // A company is what people know a lead by.
  const places = [
    row === undefined || isListed ? '' : `row ${row}`,
    heading,
    company ? '' : (leadId ?? '') && `lead ${leadId}`,
  ];
  return places.filter((place) => place !== '' && !saysWord(message, place.replace(/^lead /, '')));
}

/** Whole words only: "row 12" does not contain "row 1". */
function saysWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w-])${word.replaceAll(/\W/g, String.raw`\$&`)}(?![\\w-])`).test(text);
}
