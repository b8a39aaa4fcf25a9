import { describe, expect, test } from 'vitest';
import type { FileLocation } from '../../src/targets/file/file-place.ts';
import type { PlaceHarness } from './place-harness.ts';

const signal = new AbortController().signal;

async function* chunks(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(location: FileLocation): Promise<string | null> {
  await using file = await location.open(signal);
  if (file === null) return null;
  const parts: Buffer[] = [];
  for await (const chunk of file.chunks()) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

/** Replaces the file as it is now; `during`: while the content is being made. */
async function replace(location: FileLocation, text: string, during: () => unknown = () => {}) {
  await using writer = await location.startWriting(signal);
  await using original = await location.open(signal);
  const content = async function* (): AsyncGenerator<Buffer> {
    yield* chunks(text.slice(0, 1));
    await during();
    yield* chunks(text.slice(1));
  };
  return await writer.replace(original, content(), signal);
}

/** The contract of FilePlace. */
export function describePlace(what: string, open: (name: string) => Promise<PlaceHarness>): void {
  const on =
    (body: (harness: PlaceHarness, location: FileLocation) => Promise<void>, name = 'leads.csv') =>
    async (): Promise<void> => {
      await using harness = await open(name);
      await body(harness, await harness.place().locate(signal));
    };

  describe(`a file ${what}`, { timeout: 60_000, concurrent: true }, () => {
    test(
      'is missing, is made, is read, and is replaced, also under a name that has to be encoded',
      on(async ({ show, names, place }, location) => {
        expect(await location.look(signal)).toBeNull();
        expect(await location.open(signal)).toBeNull();
        expect(await replace(location, 'first')).not.toBeNull();
        expect(await show()).toBe('first');
        const state = await location.look(signal);
        expect(state?.size).toBe(5);
        expect(await textOf(location)).toBe('first');
        expect(await replace(location, 'second')).not.toBeNull();
        expect(await show()).toBe('second');
        expect((await location.look(signal))?.version).not.toBe(state?.version);
        expect(await textOf(await place().locate(signal))).toBe('second');
        expect(await names()).toHaveLength(1);
      }, 'Müllers Leads #1 100% (neu).csv'),
    );

    test(
      'of several MB is read as it is, byte for byte',
      on(async ({ save }, location) => {
        const text = Array.from({ length: 300_000 }, (_, row) => `row ${row}\n`).join('');
        await save(text);
        expect((await textOf(location)) === text).toBe(true);
      }),
    );

    test(
      'what is left after a write can be replaced without looking again',
      on(async ({ save, show }, location) => {
        await save('a');
        const replaced = await replace(location, 'ours');
        await using file = await location.open(signal);
        expect(file?.version).toBe(replaced?.left?.version);
        expect(await replace(location, 'ours again')).not.toBeNull();
        expect(await show()).toBe('ours again');
      }),
    );

    test(
      'is not replaced when somebody has saved since it was opened, or while the content was made',
      on(async ({ save, show, names }, location) => {
        await save('a');
        await using writer = await location.startWriting(signal);
        await using original = await location.open(signal);
        expect(await original?.isCurrent()).toBe(true);
        await save('theirs');
        expect(await original?.isCurrent()).toBe(false);
        expect(await writer.replace(original, chunks('ours'), signal)).toBeNull();
        expect((await original?.head(9))?.toString()).toBe('a');
        await using again = await location.open(signal);
        const during = async function* (): AsyncGenerator<Buffer> {
          yield Buffer.from('ou');
          await save('theirs, anew');
          yield Buffer.from('rs');
        };
        expect(await writer.replace(again, during(), signal)).toBeNull();
        expect(await show()).toBe('theirs, anew');
        await writer[Symbol.asyncDispose]();
        expect(await names()).toHaveLength(1);
      }),
    );

    test(
      'is not made when somebody has made it meanwhile, and not made anew when somebody has removed it',
      on(async ({ save, show }, location) => {
        expect(await replace(location, 'ours', () => save('theirs'))).toBeNull();
        expect(await show()).toBe('theirs');
        expect(await replace(location, 'ours', () => save(null))).toBeNull();
        expect(await show()).toBeNull();
      }),
    );

    test(
      'of two writers at once one succeeds',
      on(async ({ save, show, place, isUnguarded }, location) => {
        if (isUnguarded === true) return;
        await save('a');
        const other = await place().locate(signal);
        await using originals = new AsyncDisposableStack();
        const both = [location, other].map(async (one) => originals.use(await one.open(signal)));
        const [first, second] = await Promise.all(both);
        const put = async (one: FileLocation, original: typeof first, text: string) => {
          await using writer = await one.startWriting(signal);
          return await writer.replace(original ?? null, chunks(text), signal);
        };
        const results = await Promise.allSettled([put(location, first, 'one'), put(other, second, 'two')]);
        const done = results.flatMap((result, index) =>
          result.status === 'fulfilled' && result.value !== null ? [['one', 'two'][index]] : [],
        );
        expect(done).toEqual([await show()]);
      }),
    );

    test(
      'is neither read nor replaced for what an abort leaves of a write',
      on(async ({ save, show, names }, location) => {
        await save('a');
        const stop = new AbortController();
        await using writer = await location.startWriting(signal);
        await using original = await location.open(signal);
        const content = async function* (): AsyncGenerator<Buffer> {
          yield Buffer.from('ou');
          stop.abort(new Error('stopped'));
          yield Buffer.from('rs');
        };
        await expect(writer.replace(original, content(), stop.signal)).rejects.toThrow('stopped');
        expect(await show()).toBe('a');
        await writer[Symbol.asyncDispose]();
        expect(await names()).toHaveLength(1);
      }),
    );

    test(
      'that somebody has open is not replaced, and the message says who',
      on(async ({ save, show, openInEditor }, location) => {
        await save('a');
        await location.assertNotOpen(signal);
        if (openInEditor === undefined) return;
        const during = () => openInEditor();
        const busy = { code: 'target.busy', retry: 'later', message: expect.stringContaining('anna') };
        await expect(replace(location, 'ours', during)).rejects.toMatchObject(busy);
        await expect(location.assertNotOpen(signal)).rejects.toMatchObject(busy);
        expect(await show()).toBe('a');
      }),
    );

    test(
      'has an identity by which it is found again',
      on(async ({ save, place }, location) => {
        await save('a');
        expect(location.id).not.toContain('\n');
        expect((await place().locate(signal)).id).toBe(location.id);
        const former = await place().formerly(location.id)?.locate(signal);
        expect(former?.id).toBe(location.id);
        expect(former && (await textOf(former))).toBe('a');
        expect(place().formerly('something else')).toBeNull();
      }),
    );
  });
}
