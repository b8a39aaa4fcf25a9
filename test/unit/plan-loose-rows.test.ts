import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import { mostOfRecord, withinSize } from '../../src/core/lead/text-size.ts';
import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import { planDuplicateRow, planNewRow } from '../../src/core/merge/plan-rows.ts';
import { planLink } from '../../src/core/merge/plan.ts';
import type { Refused } from '../../src/core/merge/refused-create.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { fields, policy, told } from './pair-state.ts';

const due = '2026-11-21T08:30:00.000Z';
const cells: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: due };
const odd = '0026-11-21T08:30:00.000Z';
const refused: Refused = { code: 'lead.create-refused', why: 'refused: 422' };
const undone: Refused = { code: 'row.undone', why: 'an undo took it away' };
const soon = { unreadable: 'soon' };
const whole = `companyName: - > Acme; stage: - > new; nextFollowUpAt: - > ${due}`;

/** A two-way connection in which one field only travels one way. */
function oneWay(field: string, direction: Direction): Partial<Policy> {
  return { fields: fields.map((mapping) => (mapping.field === field ? { ...mapping, direction } : mapping)) };
}

describe('a row without id', () => {
  const withoutName: Cells = { stage: 'new', nextFollowUpAt: due };
  test.each<[string, Cells, Refused | null, Partial<Policy>, string]>([
    ['becomes a lead', cells, null, {}, `create-lead (new-row); ${whole}`],
    [
      'becomes a lead in the direction to-leads',
      cells,
      null,
      { direction: 'to-leads' },
      `create-lead (new-row); ${whole}`,
    ],
    [
      'is only told of in the direction to-target',
      cells,
      null,
      { direction: 'to-target' },
      'report (row.without-id)',
    ],
    [
      'its empty cells are not sent',
      { ...cells, stage: null },
      null,
      {},
      `create-lead (new-row); companyName: - > Acme; nextFollowUpAt: - > ${due}`,
    ],
    [
      'its empty text is not sent',
      { ...cells, stage: '' },
      null,
      {},
      `create-lead (new-row); companyName: - > Acme; nextFollowUpAt: - > ${due}`,
    ],
    [
      'what cannot be read is not sent',
      { ...cells, nextFollowUpAt: soon },
      null,
      {},
      'hold (row.unreadable); nextFollowUpAt: - > ?soon | create-lead (new-row); companyName: - > Acme; stage: - > new',
    ],
    [
      'what only travels to the target is not sent',
      cells,
      null,
      oneWay('stage', 'to-target'),
      `create-lead (new-row); companyName: - > Acme; nextFollowUpAt: - > ${due}`,
    ],
    [
      'what only travels to the leads is sent',
      cells,
      null,
      oneWay('stage', 'to-leads'),
      `create-lead (new-row); ${whole}`,
    ],
    ['without a name it is held', { ...cells, companyName: null }, null, {}, 'hold (row.company-name-empty)'],
    [
      'with an empty name it is held',
      { ...cells, companyName: '' },
      null,
      {},
      'hold (row.company-name-empty)',
    ],
    [
      'with a name that cannot be read it is held',
      { ...cells, companyName: { unreadable: '=A1', why: 'formula' } },
      null,
      {},
      'hold (row.unreadable)',
    ],
    [
      'with too much text it is held',
      withinSize({ ...cells, stage: 'x'.repeat(mostOfRecord) }),
      null,
      {},
      'hold (row.too-large)',
    ],
    [
      'with a follow-up in a year that nobody means it is held',
      { ...cells, nextFollowUpAt: odd },
      null,
      {},
      'hold (row.unreadable)',
    ],
    [
      'with such a follow-up that only travels to the target it becomes a lead',
      { ...cells, nextFollowUpAt: odd },
      null,
      oneWay('nextFollowUpAt', 'to-target'),
      'create-lead (new-row); companyName: - > Acme; stage: - > new',
    ],
    [
      'while the column of the name is missing it is held',
      withoutName,
      null,
      {},
      'hold (row.company-name-empty)',
    ],
    [
      'is only told of when names do not travel to the leads',
      cells,
      null,
      oneWay('companyName', 'to-target'),
      'report (row.without-id)',
    ],
    [
      'without a mapped name it becomes a lead',
      withoutName,
      null,
      { fields: fields.slice(1) },
      `create-lead (new-row); stage: - > new; nextFollowUpAt: - > ${due}`,
    ],
    [
      'is only told of when there is nothing to send',
      { stage: 'new' },
      null,
      { fields: [{ field: 'stage', column: 'Stage', type: 'text', direction: 'to-target' }] },
      'report (row.without-id)',
    ],
    ['whose lead an undo took away is held', cells, undone, {}, 'hold (row.undone)'],
    ['that the service refused is held', cells, refused, {}, 'hold (lead.create-refused)'],
    [
      'without a name, refused before',
      { ...cells, companyName: null },
      refused,
      {},
      'hold (row.company-name-empty)',
    ],
    ['refused before, to-target', cells, refused, { direction: 'to-target' }, 'report (row.without-id)'],
  ])('%s', (_, given, before, choices, expected) => {
    const actions = planNewRow(9, given, before, policy(choices));
    expect(actions.map(told).join(' | ')).toBe(expected);
    const contentHash = hashContent(given, policy(choices).fields);
    for (const action of actions)
      expect(action).toMatchObject({ leadId: null, row: 9, contentHash, expect: given });
  });

  test('what cannot be read is no name, and nothing else to send is no reason to be silent', () => {
    const actions = planNewRow(9, { companyName: null, nextFollowUpAt: soon }, null, policy());
    expect(actions.map(told).join()).toBe('hold (row.company-name-empty)');
  });

  test.each<[string, Cells, Partial<Policy>, RegExp]>([
    ['to-target', cells, { direction: 'to-target' }, /row 9 has no id; direction is to-target/],
    [
      'names do not travel',
      cells,
      oneWay('companyName', 'to-target'),
      /row 9 has no id; none of its fields travels/,
    ],
    [
      'a name that is a formula',
      { ...cells, companyName: { unreadable: '=A1', why: 'formula' } },
      {},
      /row 9 is new, but its company name cannot be read: "=A1" is a formula.*No lead was created/,
    ],
    [
      'an odd year',
      { ...cells, nextFollowUpAt: odd },
      {},
      /row 9 \("Acme"\) is new, but its Next "0026-11-21.*" is not in the years.*No lead was created/,
    ],
    ['no name', withoutName, {}, /row 9 is new but has no company name.*Fill in the name/],
  ])('a person is told why no lead is made of it: %s', (_, given, choices, sentence) => {
    expect(planNewRow(9, given, null, policy(choices))[0]?.message).toMatch(sentence);
  });

  test('a refusal is told in the words of the service', () => {
    const why = 'the stage "new" is not known';
    const told = planNewRow(9, cells, { code: 'lead.create-refused', why }, policy());
    expect(told[0]?.message).toContain(`row 9: ${why}. `);
  });

  test('the same content has the same key wherever it stands', () => {
    const [first, second] = [2, 99].map((row) => planNewRow(row, cells, null, policy())[0]?.contentHash);
    expect(first).toBe(second);
  });
});

describe('a further row with an id that another row has', () => {
  test('is held, whatever it shows, and never written', () => {
    const action = planDuplicateRow('lead-1', 9);
    expect(told(action)).toBe('hold (row.duplicate-id)');
    expect(action).toMatchObject({ leadId: 'lead-1', row: 9, changes: {} });
    expect(action.message).toContain('row 9');
  });

  test('two of them are told apart, also from what else is held of the lead', () => {
    const keys = [planDuplicateRow('lead-1', 9).contentHash, planDuplicateRow('lead-1', 10).contentHash, ''];
    expect(new Set(keys).size).toBe(3);
  });
});

describe('the link of a row to the lead that was made of it', () => {
  const link = (content: Values, lead: Cells | null, row: Cells, choices: Partial<Policy> = {}) =>
    planLink('lead-1', content, lead, { row: 9, cells: row }, policy(choices)).map(told);

  test.each<[string, Values, Cells | null, Cells, readonly string[]]>([
    ['nobody edited', cells, cells, cells, ['link (settled-create)']],
    ['the lead is not in the scan', cells, null, cells, ['link (settled-create)']],
    [
      'the lead was edited since',
      cells,
      { ...cells, stage: 'won' },
      cells,
      ['link (settled-create); stage: new > won'],
    ],
    [
      'the row was edited since',
      cells,
      cells,
      { ...cells, stage: 'won' },
      ['link (settled-create)', 'update-lead (row-edited); stage: new > won'],
    ],
    [
      'the row was edited and the lead is not in the scan',
      cells,
      null,
      { ...cells, stage: 'won' },
      ['link (settled-create)', 'update-lead (row-edited); stage: new > won'],
    ],
    [
      'both were edited',
      cells,
      { ...cells, stage: 'won' },
      { ...cells, stage: 'lost' },
      ['link (settled-create)', 'hold (conflict.both-edited); stage: won > lost'],
    ],
    [
      'the service stored it in its own spelling',
      { ...cells, stage: ' New ' },
      cells,
      { ...cells, stage: ' New ' },
      ['link (settled-create); stage:  New  > new'],
    ],
    [
      'the service stored it in its own spelling, and the row was edited since',
      { ...cells, stage: ' New ' },
      cells,
      { ...cells, stage: 'won' },
      ['link (settled-create)', 'update-lead (row-edited); stage: new > won'],
    ],
    [
      'the service filled in what was not sent',
      { companyName: 'Acme' },
      { companyName: 'Acme', stage: 'new', nextFollowUpAt: null },
      { companyName: 'Acme', stage: null, nextFollowUpAt: null },
      ['link (settled-create); stage: - > new'],
    ],
    [
      'a cell that could not be sent is held',
      { companyName: 'Acme', stage: 'new' },
      { companyName: 'Acme', stage: 'new', nextFollowUpAt: null },
      { ...cells, nextFollowUpAt: soon },
      ['link (settled-create)', 'hold (row.unreadable); nextFollowUpAt: - > ?soon'],
    ],
  ])('%s', (_, content, lead, row, expected) => {
    expect(link(content, lead, row)).toEqual(expected);
  });

  test("what the service made of a value is nobody's edit: it does not win over the row", () => {
    const [content, row] = [
      { ...cells, stage: ' New ' },
      { ...cells, stage: 'won' },
    ];
    expect(link(content, cells, row, { onConflict: 'leads-win' })).toEqual([
      'link (settled-create)',
      'update-lead (row-edited); stage: new > won',
    ]);
  });

  test('the row is found by all it shows, not by its number', () => {
    const row = { ...cells, stage: 'won' };
    const [first] = planLink('lead-1', cells, cells, { row: 9, cells: row }, policy());
    expect(first).toMatchObject({
      kind: 'link',
      leadId: 'lead-1',
      expect: row,
      contentHash: hashContent(row, fields),
    });
  });
});
