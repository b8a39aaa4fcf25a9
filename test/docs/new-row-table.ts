import type { Cell, Cells } from '../../src/core/lead/value.ts';
import { planNewRow } from '../../src/core/merge/plan-rows.ts';
import { policy } from '../unit/pair-state.ts';
import { directions, underEveryPolicy } from './every-policy.ts';
import { joined, type Line, markdown, onlyOthers } from './table.ts';

const names: Readonly<Record<string, Cell>> = {
  filled: 'Acme',
  empty: null,
  unreadable: { unreadable: 'Acme' },
};
const others: Readonly<Record<string, Cells>> = {
  some: { stage: 'new', nextFollowUpAt: null },
  none: { stage: null, nextFollowUpAt: { unreadable: 'soon' } },
};

/** A row without id that no unfinished create explains, with whatever it shows. */
export function newRowTable(): string {
  const mappings = ['mapped', 'mapped, `to-target` only', 'not mapped'] as const;
  const lines = mappings.flatMap((mapping) =>
    Object.entries(names).flatMap(([name, companyName]) =>
      Object.entries(others).flatMap(([rest, cells]) =>
        [false, true].map(
          (refused): Line => ({
            situation: [[mapping], [name], [rest], [refused ? 'yes' : 'no']],
            answers: underEveryPolicy((direction, choices) => {
              const all = policy({ direction, ...choices });
              const mapped = all.fields.flatMap((field) => {
                if (field.field !== 'companyName' || mapping === 'mapped') return [field];
                return mapping === 'not mapped' ? [] : [{ ...field, direction: 'to-target' as const }];
              });
              const shown = { ...cells, ...(mapping !== 'not mapped' && { companyName }) };
              const before = refused ? ({ code: 'lead.create-refused', why: 'no' } as const) : null;
              const actions = planNewRow(2, shown, before, { ...all, fields: mapped });
              return actions.map(({ kind, reason }) => `${kind} (${reason})`).join(' + ');
            }),
          }),
        ),
      ),
    ),
  );
  return markdown(
    ['name’s column', 'name', 'other values', 'refused', ...directions],
    onlyOthers(joined(lines)),
    {
      'filled or empty or unreadable': 'any',
      'empty or unreadable': 'empty or unreadable',
      'some or none': 'any',
      'no or yes': 'any',
    },
  );
}
