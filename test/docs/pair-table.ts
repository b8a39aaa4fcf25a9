import type { Cells, Values } from '../../src/core/lead/value.ts';
import { type PairState, planPair } from '../../src/core/merge/plan.ts';
import { pair, policy } from '../unit/pair-state.ts';
import { directions, underEveryPolicy } from './every-policy.ts';
import { joined, type Line, markdown, onlyOthers } from './table.ts';

const known: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
const edited: Values = { ...known, stage: 'won' };
const row = (cells: Cells) => ({ row: 2, cells });

/** What a side may show of one lead id, in the words of the table. */
type Sight = Readonly<Record<string, Partial<PairState>>>;

const leadOf: { readonly never: Sight; readonly pair: Sight } = {
  never: { there: { lead: known }, 'missed once': { leadAbsences: 1 }, 'missed twice': { leadAbsences: 2 } },
  pair: {
    'as agreed': { lead: known },
    edited: { lead: edited },
    'missed once': { leadAbsences: 1 },
    'missed twice': { leadAbsences: 2 },
    'missed twice, told': { leadAbsences: 3, deletionDone: true },
  },
};
const rowOf: { readonly never: Sight; readonly pair: Sight } = {
  never: {
    there: { row: row(known) },
    'missed once': { rowAbsences: 1 },
    'missed twice': { rowAbsences: 2 },
  },
  pair: {
    'as agreed': { row: row(known) },
    edited: { row: row(edited) },
    'missed once': { rowAbsences: 1 },
    'missed twice': { rowAbsences: 2 },
  },
};

/** In the order in which they stand together. */
const words = ['–', 'yes', 'there', ...Object.keys(leadOf.pair)];

/** One lead id, with every combination of what was agreed and what both sides show, under every policy. */
export function pairTable(): string {
  const lines = (['never', 'pair'] as const).flatMap((agreed) =>
    Object.entries(leadOf[agreed]).flatMap(([lead, left]) =>
      Object.entries(rowOf[agreed]).map(([shown, right]): Line => {
        const state = pair({ base: agreed === 'pair' ? known : null, ...left, ...right });
        const bothThere = state.lead !== null && state.row !== null;
        return {
          situation: [[agreed === 'pair' ? 'yes' : '–'], [lead], [shown]],
          answers: bothThere ? directions.map(() => '[field by field](#field-by-field)') : asked(state),
        };
      }),
    ),
  );
  return markdown(['agreed', 'lead', 'row', ...directions], onlyOthers(joined(lines, words)), {
    'as agreed or edited': 'there',
    'missed once or missed twice': 'missed',
    'missed once or missed twice or missed twice, told': 'missed',
    'missed twice or missed twice, told': 'missed twice, told or not',
    'as agreed or edited or missed once or missed twice': 'any',
    '– or yes': 'any',
    'there or missed once or missed twice': 'any',
  });
}

function asked(state: PairState): readonly string[] {
  return underEveryPolicy((direction, choices) => {
    const actions = planPair(state, policy({ direction, ...choices }));
    return actions.map(({ kind, reason }) => `${kind} (${reason})`).join(', ') || 'nothing';
  });
}
