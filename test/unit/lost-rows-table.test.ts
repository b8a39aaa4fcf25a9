import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import {
  findLostRows,
  lostMarks,
  type LostLead,
  type Stray,
  strayMarks,
} from '../../src/core/merge/lost-rows.ts';
import { fields } from './pair-state.ts';

const day = '2026-12-01T00:00:00.000Z';
const values = (
  companyName: string | null,
  stage: string | null = null,
  due: string | null = null,
): Values => ({
  companyName,
  stage,
  nextFollowUpAt: due,
});
const row = (at: number, cells: Cells, more: Partial<Stray> = {}): Stray => ({
  row: at,
  leadId: null,
  isUnreadable: false,
  isClosed: false,
  cells,
  contentHash: hashContent(cells, fields),
  ...more,
});
const lead = (leadId: string, base: Values, more: Partial<LostLead> = {}): LostLead => ({
  leadId,
  base,
  lead: base,
  isListed: true,
  isFresh: true,
  place: null,
  ...more,
});
/** A row with the id of a lead, that shows this. */
const showing = (at: number, cells: Values) => ({
  shown: { row: at, contentHash: hashContent(cells, fields) },
});
const acme = values('Acme', 'new', day);
const none = { links: {}, mayBe: {}, moved: {}, leadIds: [], isAnyones: false };

describe('rows that lost their ids', () => {
  test.each<[string, readonly Stray[], readonly LostLead[], object]>([
    ['nothing', [], [], {}],
    ['all that a lead showed', [row(2, acme)], [lead('a', acme)], { links: { 2: 'a' }, leadIds: ['a'] }],
    [
      'what the lead shows by now',
      [row(2, acme)],
      [lead('a', values('Old'), { lead: acme })],
      { links: { 2: 'a' }, leadIds: ['a'] },
    ],
    [
      'what was held of its row',
      [row(2, acme)],
      [lead('a', values('Old'), { row: acme })],
      { links: { 2: 'a' }, leadIds: ['a'] },
    ],
    [
      'the same twice',
      [row(2, acme), row(3, acme)],
      [lead('a', acme)],
      { mayBe: { 2: ['a'], 3: ['a'] }, leadIds: ['a'] },
    ],
    [
      'both what it showed and what it shows',
      [row(2, acme), row(3, values('Old'))],
      [lead('a', values('Old'), { lead: acme })],
      {
        mayBe: { 2: ['a'], 3: ['a'] },
        leadIds: ['a'],
      },
    ],
    [
      'what two leads showed',
      [row(2, acme)],
      [lead('a', acme), lead('b', acme)],
      { mayBe: { 2: ['a', 'b'] }, leadIds: ['a', 'b'] },
    ],
    [
      'a foreign id',
      [row(2, acme, { leadId: 'x' })],
      [lead('a', acme)],
      { mayBe: { 2: ['a'] }, leadIds: ['a'] },
    ],
    [
      'a closed id cell',
      [row(2, acme, { isClosed: true })],
      [lead('a', acme)],
      { mayBe: { 2: ['a'] }, leadIds: ['a'] },
    ],
    [
      'a lead that is not listed',
      [row(2, acme)],
      [lead('a', acme, { isListed: false })],
      { mayBe: { 2: ['a'] }, leadIds: ['a'] },
    ],
    [
      'a lead whose id another row has',
      [row(2, acme)],
      [lead('a', acme, showing(5, values('Other')))],
      {
        mayBe: { 2: ['a'] },
        moved: { 5: [] },
        leadIds: ['a'],
      },
    ],
    [
      'the same twice beside ids that cannot be read, so that either may be any row',
      [2, 3].map((at) => row(at, acme, { isUnreadable: true, isClosed: true })),
      [lead('a', acme)],
      { mayBe: { 2: ['a'], 3: ['a'] }, leadIds: ['a'], isAnyones: true },
    ],
    [
      'a name alone',
      [row(2, values('ACME', 'won'))],
      [lead('a', acme)],
      { mayBe: { 2: ['a'] }, leadIds: ['a'] },
    ],
    [
      'the name that the lead has by now',
      [row(2, values('Acme', 'won'))],
      [lead('a', values('Old'), { lead: acme })],
      {
        mayBe: { 2: ['a'] },
        leadIds: ['a'],
      },
    ],
    [
      'a name of two leads',
      [row(2, values('Acme', 'won'))],
      [lead('a', acme), lead('b', values('Acme', 'lost'))],
      {
        mayBe: { 2: ['a', 'b'] },
        leadIds: ['a', 'b'],
      },
    ],
    [
      'a name, of a lead that was gone before',
      [row(2, values('Acme', 'won'))],
      [lead('a', acme, { isFresh: false })],
      {},
    ],
    [
      'a name, of a lead that has its id elsewhere',
      [row(2, values('Acme', 'won'))],
      [lead('a', acme, showing(5, values('Other')))],
      {},
    ],
    [
      'a name, of a lead whose row is found',
      [row(2, acme), row(3, values('Acme', 'won'))],
      [lead('a', acme)],
      {
        links: { 2: 'a' },
        leadIds: ['a'],
      },
    ],
    ['another row', [row(2, values('Zeta', 'won'))], [lead('a', acme)], {}],
    ['half of it, elsewhere', [row(3, values('Zeta', 'new', day))], [lead('a', acme, { place: 2 })], {}],
    [
      'half of it, in its place',
      [row(2, values('Zeta', 'new'))],
      [lead('a', values('Acme', 'new'), { place: 2 })],
      { mayBe: { 2: ['a'] }, leadIds: ['a'] },
    ],
    [
      'a third of it, in its place',
      [row(2, values('Zeta', 'won', day))],
      [lead('a', acme, { place: 2 })],
      {},
    ],
    [
      'a third of it: the rest was emptied',
      [row(2, values('Zeta', null, day))],
      [lead('a', acme, { place: 2 })],
      {},
    ],
    [
      'a third of it: the rest was filled',
      [row(2, values('Zeta', 'new', day))],
      [lead('a', values('Acme', null, day), { place: 2 })],
      {},
    ],
    ['empty cells alone', [row(2, values('Zeta'))], [lead('a', values('Acme'), { place: 2 })], {}],
    ['no name and nothing else of it', [row(2, values(null, 'won'))], [lead('a', acme, { place: 2 })], {}],
    [
      'names that cannot be read',
      [row(2, { ...values(null, 'won'), companyName: { unreadable: '#N/A' } })],
      [lead('a', acme)],
      {},
    ],
    [
      'half of the columns that it shows',
      [row(2, { companyName: 'Zeta', nextFollowUpAt: day })],
      [lead('a', acme, { place: 2 })],
      {
        mayBe: { 2: ['a'] },
        leadIds: ['a'],
      },
    ],
  ])('of %s', (_name, strays, lost, expected) => {
    expect(told(strays, lost)).toEqual({ ...none, ...expected });
  });
});

function told(strays: readonly Stray[], lost: readonly LostLead[]): object {
  const { links, mayBe, moved, leadIds, isAnyones } = findLostRows(strays, lost, fields, fields);
  return {
    links: Object.fromEntries(links),
    mayBe: Object.fromEntries(mayBe),
    moved: Object.fromEntries(moved),
    leadIds: [...leadIds].toSorted(),
    isAnyones,
  };
}

const bolt = values('Bolt', 'won');
test.each<[string, readonly Stray[], readonly LostLead[], object]>([
  [
    'shows what another lead had',
    [],
    [lead('a', acme, showing(2, bolt)), lead('b', bolt)],
    { moved: { 2: ['b'] }, leadIds: ['b'] },
  ],
  [
    'exchanged with another',
    [],
    [lead('a', acme, showing(2, bolt)), lead('b', bolt, showing(3, acme))],
    {
      moved: { 2: ['b'], 3: ['a'] },
      leadIds: ['a', 'b'],
    },
  ],
  ['shows what nobody had', [], [lead('a', acme, showing(2, values('Zeta'))), lead('b', bolt)], {}],
  ['shows what it had', [], [lead('a', acme, showing(2, acme))], {}],
  [
    'whose former content another row shows',
    [row(7, acme, { leadId: 'x' })],
    [lead('a', acme, showing(2, values('Zeta')))],
    {
      mayBe: { 7: ['a'] },
      moved: { 2: [] },
      leadIds: ['a'],
    },
  ],
  [
    'whose former content the row of another lead shows',
    [],
    [lead('a', acme, showing(2, values('Zeta'))), lead('b', bolt, showing(3, acme))],
    {
      moved: { 2: [], 3: ['a'] },
      leadIds: ['a'],
    },
  ],
])('a row whose id is that of a lead, and which %s', (_name, strays, lost, expected) => {
  expect(told(strays, lost)).toEqual({ ...none, ...expected });
});

test('a row with an id that nobody can read is anyone’s, unless it is certainly one lead’s', () => {
  const unreadable = { isUnreadable: true, isClosed: true };
  expect(told([row(2, values('Zeta'), unreadable)], [])).toMatchObject({ isAnyones: true });
  expect(told([row(2, acme, unreadable)], [lead('a', acme)])).toMatchObject({
    isAnyones: false,
    mayBe: { 2: ['a'] },
  });
  expect(told([row(2, values('Zeta'))], [])).toMatchObject({ isAnyones: false });
});

test('the keys by which rows and leads are looked for', () => {
  const [hash, other] = [acme, bolt].map((one) => hashContent(one, fields));
  expect(strayMarks(row(2, acme))).toEqual([`=${hash}`, '#acme', '@2']);
  expect(strayMarks(row(2, values(null)))).toEqual([`=${hashContent(values(null), fields)}`, '@2']);
  expect(lostMarks(lead('a', acme, { lead: bolt, place: 7 }), fields, fields)).toEqual([
    `=${hash}`,
    `=${other}`,
    '#acme',
    '#bolt',
    '@7',
  ]);
  expect(lostMarks(lead('a', acme), [], fields)).toEqual(['#acme', '#acme']);
});
