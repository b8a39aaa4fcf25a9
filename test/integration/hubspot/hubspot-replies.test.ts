import { describe, expect, test } from 'vitest';
import { append, never, readAll, remove, update } from '../../contract/target-harness.ts';
import { company, scriptedPortal } from './hubspot-scripted.ts';

const there = [company(1, { lead_id: 'id-1', name: 'Old' }), company(2, { lead_id: 'id-2', name: 'Old' })];
const changes = [update('id-1', {}, { name: 'New' }), update('id-2', {}, { name: 'New' })];

/** Two companies are there; `reply` answers the update, and afterwards they show `after`. */
function updating(reply: unknown, after: readonly unknown[], status = 200) {
  let isSent = false;
  return scriptedPortal(({ what }) => {
    if (what === 'companies/batch/read') return { body: { results: isSent ? after : there } };
    if (what !== 'companies/batch/update') return undefined;
    isSent = true;
    return { status, body: reply };
  });
}

const named = (name: string, ...ids: number[]) => ids.map((id) => company(id, { lead_id: `id-${id}`, name }));

describe('the reply to a batch', () => {
  test.each<[string, unknown, unknown[], unknown[], boolean]>([
    [
      'results without trace ids, in another order',
      { results: named('New', 2, 1) },
      [],
      [{ status: 'done' }, { status: 'done' }],
      false,
    ],
    [
      'an error that names the record',
      {
        results: named('New', 1),
        errors: [{ message: 'No.', category: 'VALIDATION_ERROR', context: { ids: ['2'] } }],
      },
      [],
      [{ status: 'done' }, { status: 'held', message: expect.stringContaining(': No. It was') }],
      false,
    ],
    [
      'an error that names the record as one, which is gone',
      {
        results: named('New', 1),
        numErrors: 1,
        errors: [{ category: 'OBJECT_NOT_FOUND', context: { id: 2 } }],
      },
      [],
      [{ status: 'done' }, { status: 'deferred', code: 'row.gone' }],
      false,
    ],
    [
      'an error that names the trace id, and words in its details',
      {
        results: [],
        errors: [
          {
            message: 'Property values were not valid: [{}]',
            errors: [{ message: 'Too loud.', code: 'INVALID' }],
            context: { objectWriteTraceId: ['0'] },
          },
          { context: { objectWriteTraceId: '1', ids: ['1'] }, category: 'CONFLICT' },
        ],
      },
      [],
      [
        { status: 'held', message: expect.stringContaining('Too loud.') },
        { status: 'held', message: expect.stringContaining('CONFLICT') },
      ],
      false,
    ],
    [
      'an error that names nobody: whoever shows the new value is done',
      { results: [], errors: [{ message: 'Somebody.', context: {} }] },
      named('New', 1).concat(named('Old', 2)),
      [{ status: 'done' }, { status: 'held', message: expect.stringContaining('Somebody.') }],
      true,
    ],
    [
      'nothing about one of them',
      { results: named('New', 1) },
      named('Old', 2),
      [{ status: 'done' }, { status: 'deferred', code: 'row.changed' }],
      true,
    ],
    [
      'nothing about one of them, which is gone',
      { results: named('New', 1) },
      [],
      [{ status: 'done' }, { status: 'deferred', code: 'row.gone' }],
      true,
    ],
    [
      'results without what was written, though it is there',
      {
        results: [
          { id: '1', properties: {} },
          { id: '2', properties: { name: 'New' } },
        ],
      },
      named('New', 1),
      [{ status: 'done' }, { status: 'done' }],
      true,
    ],
    [
      'both a result and an error: the error counts',
      { results: named('New', 1, 2), errors: [{ message: 'No.', context: { ids: ['2'] } }] },
      [],
      [{ status: 'done' }, { status: 'held' }],
      false,
    ],
  ])('%s', async (_, reply, after, outcomes, readsAgain) => {
    for (const status of [200, 201, 207]) {
      await using portal = await updating(reply, after, status);
      expect(await portal.target.write(changes, never())).toMatchObject(outcomes);
      const reads = portal.requests.filter(({ what }) => what === 'companies/batch/read');
      expect(reads).toHaveLength(readsAgain ? 2 : 1);
    }
  });

  test.each([
    ['an empty object', {}],
    ['a list', []],
    ['null', null],
  ])('that is %s says nothing: the write may have taken effect', async (_, reply) => {
    await using portal = await updating(reply, named('New', 1, 2));
    await expect(portal.target.write(changes, never())).rejects.toMatchObject({
      code: 'target.unavailable',
      retry: 'later',
      retryAfterMs: 10_000,
    });
    expect(await portal.target.write(changes, never())).toMatchObject([
      { status: 'done' },
      { status: 'done' },
    ]);
  });

  test('a whole batch is refused because of one that is gone: it alone is put off', async () => {
    await using portal = await scriptedPortal(({ what, body: { inputs = [] } }) => {
      if (what === 'companies/batch/read') return { body: { results: there } };
      if (what !== 'companies/batch/update') return undefined;
      return inputs.some(({ id }) => id === '1')
        ? { status: 404, body: { category: 'OBJECT_NOT_FOUND', context: { ids: ['1'] } } }
        : { body: { results: inputs.map(({ id, properties }) => ({ id, properties })) } };
    });
    expect(await portal.target.write(changes, never())).toMatchObject([
      { status: 'deferred', code: 'row.gone' },
      { status: 'done' },
    ]);
  });

  test('new companies are known by the lead id that they show, whatever their trace ids', async () => {
    await using portal = await scriptedPortal(({ what, body: { inputs = [] } }) => {
      if (what !== 'companies/batch/create') return undefined;
      const results = inputs.map(({ properties }, n) => ({ id: `${n + 50}`, properties }));
      return { body: { results: results.toReversed() } };
    });
    const added = ['a', 'b', 'c'].map((id) => append(id, { name: `Name of ${id}`, city: null }));
    expect(await portal.target.write(added, never())).toMatchObject(added.map(() => ({ status: 'done' })));
    const sent = portal.requests.find(({ what }) => what === 'companies/batch/create')?.body.inputs ?? [];
    // What is empty is not sent.
    const properties = (id: string) => ({ lead_id: id, name: `Name of ${id}` });
    const traced = { objectWriteTraceId: expect.any(String) };
    expect(sent).toEqual(['a', 'b', 'c'].map((id) => ({ ...traced, properties: properties(id) })));
    expect(new Set(sent.map(({ objectWriteTraceId }) => objectWriteTraceId)).size).toBe(3);
  });

  test('new companies are known by their trace ids, if these are all that is shown', async () => {
    await using portal = await scriptedPortal(({ what, body: { inputs = [] } }) => {
      if (what !== 'companies/batch/create') return undefined;
      const results = inputs.map(({ objectWriteTraceId, properties: { name = '' } }, n) => ({
        id: `${n + 50}`,
        objectWriteTraceId,
        properties: { lead_id: 'as it pleases', name: name === 'odd' ? 'other' : name },
      }));
      return { body: { results: results.toReversed() } };
    });
    const outcomes = await portal.target.write(
      ['a', 'b', 'c'].map((id) => append(id, { name: id === 'b' ? 'odd' : id })),
      never(),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['held', 'held', 'held']);
    expect(outcomes).toMatchObject(
      ['b', 'a', 'c'].toSorted().map((id) => ({
        key: id,
        message: expect.stringMatching(
          id === 'b' ? /name shows "other"/ : /shows: lead_id shows|: lead_id shows/,
        ),
      })),
    );
  });

  test('a value that is shown nowhere is empty, unless its property is gone', async () => {
    const reply = { results: [{ id: '1', properties: {} }] };
    const shown = [{ id: '1', properties: { lead_id: 'id-1', city: null, due: null } }];
    const clear = [update('id-1', {}, { name: null })];
    await using portal = await updating(reply, shown);
    expect(await portal.target.write(clear, never())).toMatchObject([{ status: 'done' }]);

    await using other = await updating(reply, shown);
    const { script } = other;
    let isGone = false;
    other.script = (request) => {
      if (request.what === 'companies/batch/update') isGone = true;
      if (request.what !== 'properties' || !isGone) return script(request);
      return { body: { results: [{ name: 'lead_id', type: 'string', hasUniqueValue: true }] } };
    };
    await expect(other.target.write(clear, never())).rejects.toMatchObject({ code: 'target.changed' });
  });

  test('the token is not repeated, though HubSpot does', async () => {
    await using portal = await updating({ category: 'VALIDATION_ERROR', message: 'Is pat yours?' }, [], 400);
    expect(await portal.target.write(changes.slice(0, 1), never())).toMatchObject([
      { status: 'held', message: expect.stringContaining('Is [secret] yours?') },
    ]);
  });
});

describe('companies that HubSpot does not read', () => {
  const unread = (id: string) => ({
    status: 207,
    body: { results: [], errors: [{ category: 'INTERNAL_ERROR', message: 'Later', context: { ids: [id] } }] },
  });

  test('are not taken for ones that are not there', async () => {
    await using portal = await scriptedPortal(({ what }) =>
      what === 'companies/batch/read' ? unread('id-1') : undefined,
    );
    await expect(portal.target.write([append('id-1', { name: 'New' })], never())).rejects.toMatchObject({
      code: 'target.unavailable',
      retry: 'now',
    });
    expect(portal.requests.map(({ what }) => what)).not.toContain('companies/batch/create');
  });

  test('are not removed: nobody knows what else they have', async () => {
    await using portal = await scriptedPortal(({ what, body }) => {
      if (what !== 'companies/batch/read') return undefined;
      return { body: { results: body.inputs?.[0]?.id === 'id-1' ? [company(1, { lead_id: 'id-1' })] : [] } };
    });
    expect(await portal.target.write([remove('id-1', {})], never())).toMatchObject([
      { status: 'deferred', code: 'row.gone' },
    ]);
    expect(portal.requests.map(({ what }) => what)).not.toContain('companies/batch/archive');
  });
});

test('a property that HubSpot alone fills is none for the ids of leads', async () => {
  await using portal = await scriptedPortal(({ what }) =>
    what === 'properties'
      ? {
          body: {
            results: [
              {
                name: 'lead_id',
                type: 'number',
                hasUniqueValue: true,
                modificationMetadata: { readOnlyValue: true },
              },
            ],
          },
        }
      : undefined,
  );
  await expect(readAll(portal.target)).rejects.toMatchObject({
    code: 'target.id-column-missing',
    message: expect.stringContaining('itself'),
  });
});
