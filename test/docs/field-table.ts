import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import { type Cell, isUnreadable, sameCell, type Value } from '../../src/core/lead/value.ts';
import type { FieldMemo } from '../../src/core/merge/merge-field.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import { pair, policy } from '../unit/pair-state.ts';
import { directions, underEveryPolicy } from './every-policy.ts';
import { joined, type Line, markdown, onlyOthers } from './table.ts';

const unreadable: Cell = { unreadable: 'soon' };

/** What a field may have been agreed on: never, on nothing, or on a value. */
const agreements: readonly (Value | undefined)[] = [undefined, 'old', null];
const leads: readonly Cell[] = ['old', 'new', null, unreadable];
const rows: readonly Cell[] = ['old', 'new', 'other', null, unreadable];

interface Given {
  readonly field: string;
  readonly memo?: FieldMemo;
}

/** A combination and what happens in it. `rough` and `exact` describe it; the same words may be another's, too. */
interface Case {
  readonly rough: readonly string[];
  readonly exact: readonly string[];
  readonly answers: readonly string[];
}

/** One field that both sides have, with every combination of what was agreed and what both show. */
export function fieldTable(): string {
  return table(casesOf({ field: 'stage' }), () => true);
}

/** The lines of another field, or of one that something is remembered of, that are not those of `fieldTable`. */
export function exceptionsTable(given: Given): string {
  const rule = casesOf({ field: 'stage' });
  return table(casesOf(given), ({ answers }, at) => String(answers) !== String(rule[at]?.answers));
}

/** Describes each case as roughly as its answers allow: in the same words only when all such cases have the same ones. */
function table(cases: readonly Case[], isWanted: (one: Case, at: number) => boolean): string {
  const lines = cases.filter(isWanted).map((one): Line => {
    const rough = cases.filter((other) => String(other.rough) === String(one.rough));
    const said = isSettled(rough) ? one.rough : one.exact;
    const exact = cases.filter((other) => String(other.exact) === String(one.exact));
    if (!isSettled(exact)) throw new Error(`not told apart: ${one.exact.join(', ')}`);
    return { situation: said.map((word) => [word]), answers: one.answers };
  });
  return markdown(['agreed', 'lead', 'row', ...directions], onlyOthers(joined(lines, words)), {
    'a value or empty': 'readable',
    'a value or empty or unreadable': 'any',
    'as agreed or changed': 'readable',
    'as agreed or changed or unreadable': 'any',
  });
}

function isSettled(cases: readonly Case[]): boolean {
  return new Set(cases.map(({ answers }) => String(answers))).size === 1;
}

function casesOf({ field, memo }: Given): readonly Case[] {
  return agreements.flatMap((agreed) =>
    leads.flatMap((lead) =>
      rows.map((row): Case => {
        const exact = [agreement(agreed), sight(lead, agreed), sightOfRow(row, lead, agreed)];
        const rough = exact.map((word) => roughly[word] ?? word);
        return { rough, exact, answers: asked(field, agreed, lead, row, memo) };
      }),
    ),
  );
}

/** In the order in which they stand together. */
const words =
  '–, yes, on a value, on nothing, as agreed, changed, emptied, changed to the same, a value, the same, another value, empty, unreadable'.split(
    ', ',
  );

const roughly: Readonly<Record<string, string>> = {
  'on a value': 'yes',
  'on nothing': 'yes',
  emptied: 'changed',
};

function agreement(agreed: Value | undefined): string {
  if (agreed === undefined) return '–';
  return agreed === null ? 'on nothing' : 'on a value';
}

function sight(cell: Cell, agreed: Value | undefined): string {
  if (isUnreadable(cell)) return 'unreadable';
  if (agreed === undefined) return cell === null ? 'empty' : 'a value';
  if (sameCell(cell, agreed)) return 'as agreed';
  return cell === null ? 'emptied' : 'changed';
}

function sightOfRow(row: Cell, lead: Cell, agreed: Value | undefined): string {
  const seen = sight(row, agreed);
  if (isUnreadable(row) || isUnreadable(lead) || seen === 'as agreed') return seen;
  if (sameCell(row, lead)) return agreed === undefined ? 'the same' : 'changed to the same';
  if (seen === 'a value' && lead !== null) return 'another value';
  return seen;
}

function asked(
  field: string,
  agreed: Value | undefined,
  lead: Cell,
  row: Cell,
  memo: FieldMemo | undefined,
): readonly string[] {
  const state = pair({
    base: agreed === undefined ? {} : { [field]: agreed },
    lead: { [field]: lead },
    row: { row: 2, cells: { [field]: row } },
    memo: memo === undefined ? {} : { [field]: memo },
  });
  return underEveryPolicy((direction, choices) => {
    const fields: readonly FieldMapping[] = [{ field, column: 'Column', type: 'text', direction }];
    const [action, ...others] = planPair(state, { ...policy({ direction, ...choices }), fields });
    if (others.length > 0) throw new Error('one field, and more than one action');
    if (action === undefined) return 'nothing';
    const reason = ` (${action.reason})`;
    switch (action.kind) {
      case 'update-row':
        return `lead → row${reason}`;
      case 'update-lead':
        return `row → lead${reason}`;
      case 'agree':
        return 'agree';
      case 'hold':
        return `hold${reason}`;
      default:
        throw new Error(`no decision on a field: ${action.kind}`);
    }
  });
}
