import { describe, expect, test } from 'vitest';
import { acme, attempt, found, idAt, intent, lead, minute, proof, settled } from './intents.ts';
import { matchCreates } from '../support/run-steps.ts';

describe('several creates whose replies were lost', () => {
  const second = intent({ id: 2 });
  const full = { ...acme, nextFollowUpAt: '2026-12-01T00:00:00.000Z' };

  test('the same content twice, both made: one each', () => {
    expect(settled([intent(), second], [lead(2), lead(1)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: found(idAt(attempt, 2)),
    });
  });

  test('the same content twice, one made: the other is looked for again', () => {
    expect(settled([intent(), second], [lead(1)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: { kind: 'wait' },
    });
  });

  test('the same content twice, three made: none is chosen', () => {
    const kinds = [...matchCreates([intent(), second], [lead(1), lead(2), lead(3)], proof).values()].map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['ambiguous', 'ambiguous']);
  });

  test('a rival that came too late for every candidate does not hide that two fit', () => {
    const late = intent({ id: 2, attemptedAt: attempt + 60 * minute });
    expect(matchCreates([intent(), late], [lead(1), lead(2)], proof).get(1)?.kind).toBe('ambiguous');
  });

  test('a lead that is known to belong to one is not given to another', () => {
    expect(settled([intent({ leadId: lead().id }), second], [lead()])).toEqual({
      1: found(lead().id),
      2: { kind: 'wait' },
    });
    expect(settled([second, intent({ id: 3, leadId: lead().id })], [lead()])).toEqual({
      2: { kind: 'wait' },
      3: found(lead().id),
    });
  });

  test('of two contents the lead shows all of one and more than the other: it is the fuller one', () => {
    for (const order of [
      [intent({ id: 1, content: acme }), intent({ id: 2, content: full })],
      [intent({ id: 1, content: full }), intent({ id: 2, content: acme })],
    ]) {
      const fuller = order.find(({ content }) => content === full);
      const other = order.find(({ content }) => content === acme);
      const settlements = matchCreates(order, [lead(1, full)], proof);
      expect(settlements.get(fuller?.id ?? 0)).toEqual(found(idAt(attempt, 1)));
      expect(settlements.get(other?.id ?? 0)).toEqual({ kind: 'wait' });
    }
  });

  test('different contents, both made: each gets its own', () => {
    const order = [intent({ id: 1, content: acme }), intent({ id: 2, content: full })];
    expect(settled(order, [lead(1, full), lead(2)])).toEqual({
      1: found(idAt(attempt, 2)),
      2: found(idAt(attempt, 1)),
    });
  });

  test('two contents of which neither includes the other, and one lead that fits both: none is chosen', () => {
    const a = intent({ id: 1, content: { companyName: 'Acme', stage: 'new' } });
    const b = intent({ id: 2, content: { companyName: 'Acme', nextFollowUpAt: full.nextFollowUpAt } });
    const kinds = [...matchCreates([a, b], [lead(1, full)], proof).values()].map(({ kind }) => kind);
    expect(kinds).toEqual(['ambiguous', 'ambiguous']);
  });

  test('the same content twice, the second an hour later: each gets its own, whichever is asked first', () => {
    const late = intent({ id: 2, attemptedAt: attempt + 60 * minute });
    const leads = [lead(1), lead(2, acme, attempt + 60 * minute)];
    for (const order of [
      [intent(), late],
      [late, intent()],
    ]) {
      expect(settled(order, leads)).toEqual({ 1: found(leads[0]?.id ?? ''), 2: found(leads[1]?.id ?? '') });
    }
  });

  test('two leads that show all of the fuller content: one may be of the other, none is chosen', () => {
    const candidates = [idAt(attempt, 1), idAt(attempt, 2)];
    expect(settled([intent(), intent({ id: 2, content: full })], [lead(1, full), lead(2, full)])).toEqual({
      1: { kind: 'ambiguous', candidates },
      2: { kind: 'ambiguous', candidates },
    });
  });

  test('a lead that was offered to two is given to no third', () => {
    const a = intent({ id: 1, content: { companyName: 'Acme', stage: 'new' } });
    const b = intent({ id: 2, content: { companyName: 'Acme', nextFollowUpAt: full.nextFollowUpAt } });
    const [c, d] = [3, 4].map((id) => intent({ id, content: { companyName: 'Acme' } }));
    const leads = [lead(1, full), lead(2, { companyName: 'Acme' })];
    const settlements = matchCreates([a, b, ...(c && d ? [c, d] : [])], leads, proof);
    expect([...settlements.values()].map(({ kind }) => kind)).toEqual(Array(4).fill('ambiguous'));
  });

  test('a namesake is offered, whatever other leads were given to others', () => {
    const namesake = lead(1, { ...acme, stage: 'won' });
    expect(settled([intent({ leadId: 'x' }), second], [namesake])).toEqual({
      1: found('x'),
      2: { kind: 'ambiguous', candidates: [namesake.id] },
    });
  });

  test('each is offered its own leads, however many another was offered before', () => {
    const beta = { companyName: 'Beta', stage: 'new' };
    const ofBeta = [3, 4].map((tail) => lead(tail, beta));
    const leads = [lead(1), lead(2), ...ofBeta];
    expect(settled([intent(), intent({ id: 2, content: beta })], leads)).toEqual({
      1: { kind: 'ambiguous', candidates: [leads[0]?.id, leads[1]?.id] },
      2: { kind: 'ambiguous', candidates: [leads[2]?.id, leads[3]?.id] },
    });
  });

  test('each is offered its own leads, though they begin as those of another do', () => {
    const named = (tail: number, companyName: string) => lead(tail, { companyName, stage: 'won' });
    const asked = (id: number, companyName: string, later = 0) =>
      intent({ id, content: { companyName, stage: 'new' }, attemptedAt: attempt + later });
    const known = { ...named(3, 'Acme'), knownSince: attempt + minute };
    const [one, other] = [named(1, 'Acme'), named(2, 'Acme')].map(({ id }) => id);
    expect(
      settled([asked(1, 'Acme'), asked(2, 'Acme', 2 * minute)], [named(1, 'Acme'), named(2, 'Acme'), known]),
    ).toEqual({
      1: { kind: 'ambiguous', candidates: [one, other, known.id] },
      2: { kind: 'ambiguous', candidates: [one, other] },
    });
    const leads = [named(1, 'Acme Han'), named(2, 'Acme Handels AG'), named(3, 'Acme Handels KG')];
    expect(settled([asked(1, 'Acme Handels AG'), asked(2, 'Acme Handels KG')], leads)).toEqual({
      1: { kind: 'ambiguous', candidates: [one, other] },
      2: { kind: 'ambiguous', candidates: [one, known.id] },
    });
  });

  test('an answered one is not offered a lead that another has got', () => {
    const beta = intent({ id: 2, content: { companyName: 'Beta' }, answered: true, scansWithoutIt: 1 });
    expect(settled([intent(), beta], [lead(1)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: { kind: 'unrecognised' },
    });
  });

  test('one that has got its lead is no rival any more', () => {
    const late = intent({ id: 2, attemptedAt: attempt + 2 * minute });
    const between = [2, 3].map((tail) => ({ ...lead(tail), knownSince: attempt + minute }));
    expect(settled([late, intent()], [lead(1), ...between])).toEqual({
      2: found(idAt(attempt, 1)),
      1: { kind: 'ambiguous', candidates: between.map(({ id }) => id) },
    });
  });

  test('another content that was sent too late for the lead is no rival, though it fits', () => {
    const late = intent({
      id: 2,
      attemptedAt: attempt + 60 * minute,
      content: { companyName: 'Acme', nextFollowUpAt: full.nextFollowUpAt },
    });
    expect(settled([intent(), late], [lead(1, full)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: { kind: 'wait' },
    });
  });
});
