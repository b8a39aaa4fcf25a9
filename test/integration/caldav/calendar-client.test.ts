import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CalendarClient } from '../../../src/caldav/calendar-client.ts';
import { makeEntry, readEntry } from '../../../src/caldav/entry-text.ts';
import { Secret } from '../../../src/config/secret.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { calendarProgram, password, type Radicale, startRadicale } from '../../support/radicale.ts';

const never = new AbortController().signal;

function entry(uid: string, title = 'Call Hoffmann'): string {
  const content = { title, description: '', url: '' };
  return makeEntry('event', uid, { at: Date.UTC(2027, 10, 17, 9), day: null }, content, {
    sequence: 0,
    now: 0,
    alarm: null,
  });
}

async function fault(asking: Promise<unknown>): Promise<LeadsyncError> {
  const error: unknown = await asking.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof LeadsyncError) return error;
  throw new Error('there was no fault', { cause: error });
}

describe('the client of a calendar', { tags: 'radicale' }, () => {
  let server: Radicale;
  beforeAll(async () => {
    server = await startRadicale();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (url: string, secret = password): CalendarClient =>
    new CalendarClient(url, { username: 'anna', password: new Secret(secret) });

  test('a calendar says what it takes, and that it may be written to', async () => {
    const client = open(await server.calendar('anna', 'facts'));
    expect(await client.examine(never)).toEqual({
      displayName: 'anna/facts',
      components: ['event', 'task'],
      mayWrite: true,
    });
  });

  test('an entry is created once, and changed and deleted only as it was read', async () => {
    const client = open(await server.calendar('anna', 'writes'));
    const made = await client.put('a.ics', entry('a@x'), null, never);
    if (made.kind !== 'stored' || made.etag === null) throw new Error('not stored');
    expect(await client.put('a.ics', entry('a@x'), null, never)).toEqual({ kind: 'changed' });
    expect(await client.put('b.ics', entry('a@x'), null, never)).toEqual({ kind: 'uid-taken' });
    expect(await client.find('event', 'a@x', never)).toEqual(['a.ics']);
    expect(await client.put('a.ics', entry('a@x', 'other'), made.etag, never)).toMatchObject({
      kind: 'stored',
    });
    expect(await client.put('a.ics', entry('a@x', 'third'), made.etag, never)).toEqual({ kind: 'changed' });
    expect(await client.remove('a.ics', made.etag, never)).toBe(false);
    const read = await client.read(['a.ics', 'none.ics'], never);
    expect([...read.keys()]).toEqual(['a.ics']);
    expect(read.get('a.ics')?.text).toContain('SUMMARY:other');
    expect(await client.remove('a.ics', read.get('a.ics')?.etag ?? '', never)).toBe(true);
    expect(await client.remove('a.ics', made.etag, never)).toBe(true);
    expect(await client.put('a.ics', entry('a@x'), made.etag, never)).toEqual({ kind: 'changed' });
  });

  test("what a person's program wrote meanwhile is read, and not written over", async () => {
    const url = await server.calendar('anna', 'programs');
    const client = open(url);
    const made = await client.put('a.ics', entry('a@p'), null, never);
    const program = await calendarProgram(url);
    await program.edit('a@p', (text) => text.replace('T090000Z', 'T140000Z'));
    const stale = made.kind === 'stored' ? made.etag : null;
    expect(await client.put('a.ics', entry('a@p', 'other'), stale, never)).toEqual({ kind: 'changed' });
    const read = await client.read(['a.ics'], never);
    expect(readEntry(read.get('a.ics')?.text ?? '', 'event', 'UTC')).toMatchObject({
      at: Date.UTC(2027, 10, 17, 14),
      mark: Date.UTC(2027, 10, 17, 9),
    });
  });

  test('what is there, without what was deleted', async () => {
    const client = open(await server.calendar('anna', 'changes'));
    for (const name of ['a', 'b']) await client.put(`${name}.ics`, entry(`${name}@c`), null, never);
    const names = async () => [...(await client.list(never)).keys()].filter((name) => name.endsWith('.ics'));
    expect((await names()).toSorted()).toEqual(['a.ics', 'b.ics']);
    await client.remove('a.ics', (await client.list(never)).get('a.ics') ?? '', never);
    expect(await names()).toEqual(['b.ics']);
  });

  test('a wrong password, a place that is not there and one that is no calendar are told, without the password', async () => {
    const url = await server.calendar('anna', 'faults');
    const wrong = await fault(open(url, 'n0t-it').examine(never));
    expect(wrong).toMatchObject({ code: 'caldav.unauthenticated', retry: 'later' });
    expect(JSON.stringify([wrong.message, wrong.help])).not.toContain('n0t-it');
    const nowhere = url.replace('faults', 'nowhere');
    expect(await fault(open(nowhere).examine(never))).toMatchObject({ code: 'caldav.not-found' });
    expect(await fault(open(`${server.origin}/anna/`).examine(never))).toMatchObject({
      code: 'caldav.not-a-calendar',
    });
    expect(await fault(open(`${server.origin}/bert/x/`).examine(never))).toMatchObject({
      code: expect.stringMatching(/^caldav\.(?:forbidden|not-found)$/) as string,
    });
  });
});
