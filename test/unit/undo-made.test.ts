import { describe, expect, test } from 'vitest';
import type { RunChanges, Present } from '../../src/core/merge/undo.ts';
import { acme, row, soon, undo, undone, wrote } from './run-changes.ts';

describe('a lead that a run made', () => {
  const leadMade = { companyName: 'Acme', stage: 'new' };

  test.each<[string, Partial<RunChanges>, Partial<Present>, readonly string[]]>([
    ['as it was made', { leadMade }, { lead: acme }, ['delete-lead (undone)']],
    [
      'in the spelling of the service',
      { leadMade },
      { lead: { ...acme, companyName: 'ACME ' } },
      ['delete-lead (undone)'],
    ],
    ['edited since', { leadMade }, { lead: { ...acme, stage: 'won' } }, ['report (undo.edited-since)']],
    ['emptied since', { leadMade }, { lead: { companyName: 'Acme' } }, ['report (undo.edited-since)']],
    [
      'filled in since',
      { leadMade },
      { lead: { ...acme, nextFollowUpAt: 'x' } },
      ['report (undo.edited-since)'],
    ],
    [
      'filled in since, but not readable',
      { leadMade },
      { lead: { ...acme, nextFollowUpAt: soon } },
      ['report (undo.edited-since)'],
    ],
    ['gone', { leadMade }, {}, ['report (undo.gone)']],
    [
      'gone, and its row edited since',
      { leadMade, rowLinked: acme },
      { row: row({ ...acme, stage: 'won' }) },
      ['report (undo.gone)'],
    ],
    [
      'and then wrote to',
      { leadMade, written: [wrote('lead', 'stage', 'new', 'won')] },
      { lead: { ...acme, stage: 'won' } },
      ['delete-lead (undone)'],
    ],
    [
      'and the service filled in, of which the row was told',
      { leadMade, rowLinked: acme, written: [wrote('row', 'nextFollowUpAt', null, 'x')] },
      { lead: { ...acme, nextFollowUpAt: 'x' }, row: row({ ...acme, nextFollowUpAt: 'x' }) },
      ['delete-lead (undone)', 'unlink (undone); nextFollowUpAt: x > -'],
    ],
    [
      'and its row was edited since',
      { leadMade, rowLinked: acme },
      { lead: acme, row: row({ ...acme, stage: 'won' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'deleted already, but its row still has the id',
      { leadMade, rowLinked: acme },
      { row: row(acme) },
      ['unlink (undone)'],
    ],
  ])('%s', (_, made, present, expected) => {
    expect(undone(made, present)).toEqual(expected);
  });

  test('its row gives back the id only while it shows what it shows now', () => {
    expect(undo({ leadMade, rowLinked: acme }, { lead: acme, row: row(acme) })[1]).toMatchObject({
      kind: 'unlink',
      row: 7,
      expect: acme,
    });
  });

  test('is deleted only while it shows what it shows now', () => {
    expect(undo({ leadMade }, { lead: acme })[0]).toMatchObject({
      leadId: 'lead-1',
      row: null,
      expect: acme,
    });
  });
});

describe('a row that a run made', () => {
  test.each<[string, Partial<RunChanges>, Partial<Present>, readonly string[]]>([
    ['as it was made', { rowMade: acme }, { row: row(acme) }, ['remove-row (undone)']],
    [
      'edited since',
      { rowMade: acme },
      { row: row({ ...acme, stage: 'won' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'in another case',
      { rowMade: acme },
      { row: row({ ...acme, companyName: 'ACME' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'filled in since',
      { rowMade: acme },
      { row: row({ ...acme, nextFollowUpAt: soon }) },
      ['report (undo.edited-since)'],
    ],
    [
      'filled in since, where the lead could not be read',
      { rowMade: { companyName: 'Acme', stage: 'new' } },
      { row: row({ ...acme, nextFollowUpAt: 'x' }) },
      ['report (undo.edited-since)'],
    ],
    ['gone', { rowMade: acme }, { lead: acme }, ['report (undo.gone)']],
    [
      'and then wrote to',
      { rowMade: acme, written: [wrote('row', 'stage', 'new', 'won')] },
      { row: row({ ...acme, stage: 'won' }) },
      ['remove-row (undone)'],
    ],
    [
      'of a lead that it wrote to',
      { rowMade: acme, written: [wrote('lead', 'stage', 'new', 'won')] },
      { lead: { ...acme, stage: 'won' }, row: row(acme) },
      ['remove-row (undone)', 'update-lead (undone); stage: won > new'],
    ],
  ])('%s', (_, made, present, expected) => {
    expect(undone(made, present)).toEqual(expected);
  });

  test('is taken away only while it shows what it shows now', () => {
    expect(undo({ rowMade: acme }, { row: row(acme) })[0]).toMatchObject({ row: 7, expect: acme });
  });
});

describe('a row that a run matched with a lead that was there', () => {
  const won = { ...acme, stage: 'won' };
  test.each<[string, Partial<RunChanges>, Partial<Present>, readonly string[]]>([
    ['as it was matched', {}, { lead: acme, row: row(acme) }, ['unlink (unmatched)']],
    [
      'and wrote to: it shows again what was typed',
      { written: [wrote('row', 'stage', 'new', 'won')] },
      { lead: won, row: row(won) },
      ['unlink (unmatched); stage: won > new'],
    ],
    [
      'whose lead it wrote to, which shows again what it had',
      { written: [wrote('lead', 'stage', 'won', 'new')] },
      { lead: acme, row: row(acme) },
      ['unlink (unmatched)', 'update-lead (undone); stage: new > won'],
    ],
    ['gone', {}, { lead: acme }, ['report (undo.gone)']],
  ])('%s', (_, made, present, expected) => {
    expect(undone({ rowMatched: acme, ...made }, present)).toEqual(expected);
  });
});
