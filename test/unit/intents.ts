import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import { attemptOverAfter, type Intent, type UnknownLead } from '../../src/core/merge/match-lost-creates.ts';
import { fields } from './pair-state.ts';
import { matchCreates } from '../support/run-steps.ts';

/** When the creates of these tests were tried. */
export const attempt = Date.UTC(2026, 10, 21, 8);
export const minute = 60_000;
/** A complete scan that is late enough to prove something. */
export const proof = { weight: 1, startedAt: attempt + attemptOverAfter };
export const acme: Values = { companyName: 'Acme', stage: 'new' };

/** The create of a lead of a row, in doubt, with what is given. */
export function intent(known: Partial<Intent> = {}): Intent {
  const content = known.content ?? acme;
  return {
    id: 1,
    contentHash: hashContent(known.row ?? content, fields),
    row: content,
    content,
    leadId: null,
    attemptedAt: attempt,
    answered: false,
    lostItsRow: false,
    scansWithoutIt: 0,
    ...known,
  };
}

/** A time-ordered UUID (version 7) made then. */
export function idAt(epochMs: number, tail = 0): string {
  const time = epochMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail.toString(16).padStart(12, '0')}`;
}

/** A lead that no run knew, as the create would have made it. */
export function lead(
  tail = 0,
  cells: Cells = { ...acme, nextFollowUpAt: null },
  epochMs = attempt,
): UnknownLead {
  return { id: idAt(epochMs, tail), cells };
}

/** What becomes of each intent, by its id. */
export const settled = (intents: readonly Intent[], unknown: readonly UnknownLead[], scan = proof) =>
  Object.fromEntries(matchCreates(intents, unknown, scan));
export const found = (leadId: string) => ({ kind: 'found', leadId });
