import type { Values } from '../../src/core/lead/value.ts';
import {
  attemptOverAfter,
  type ScanProof,
  type UnknownLead,
} from '../../src/core/merge/match-lost-creates.ts';
import { acme, attempt, intent, lead } from '../unit/intents.ts';
import { joined, type Line, markdown } from './table.ts';
import { matchCreates } from '../support/run-steps.ts';

const sent: Values = { ...acme, region: 'bw' };
const yesterday = attempt - 24 * 3_600_000;

/** The leads of a scan that no run knew before. */
const sights: Readonly<Record<string, readonly UnknownLead[]>> = {
  none: [],
  'one the same': [lead(1, sent)],
  'one alike': [lead(1, { ...sent, region: null })],
  'several the same': [lead(1, sent), lead(2, sent)],
  'several alike': [lead(1, { ...sent, region: null }), lead(2, { ...sent, stage: 'NEW' })],
  'one with its name alone': [lead(1, { companyName: 'Acme', stage: 'won', region: 'by' })],
  'one of another name': [lead(1, { companyName: 'Beta' })],
  'one the same, but older': [lead(1, sent, yesterday)],
};

const late = { weight: 1, startedAt: attempt + attemptOverAfter };
/** What the scans say by not showing the lead: this one, and the weight of those before it. */
const scans: Readonly<Record<string, { readonly scan: ScanProof; readonly before: number }>> = {
  'scan without proof': { scan: { ...late, weight: 0 }, before: 1 },
  'first complete scan': { scan: late, before: 0 },
  'second complete scan': { scan: late, before: 1 },
};

/** One create whose reply was lost, with what the scans after it show. */
export function createTable(): string {
  const lines = [false, true].flatMap((answered) =>
    Object.entries(sights).map(
      ([sight, unknown]): Line => ({
        situation: [[answered ? 'yes' : 'no'], [sight]],
        answers: Object.values(scans).map(({ scan, before }) => {
          const only = intent({ content: sent, answered, scansWithoutIt: before });
          return matchCreates([only], unknown, scan).get(only.id)?.kind ?? '';
        }),
      }),
    ),
  );
  return markdown(['confirmed', 'new leads in the scan', ...Object.keys(scans)], joined(lines));
}
