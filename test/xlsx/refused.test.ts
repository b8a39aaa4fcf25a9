import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { FileLocation } from '../../src/targets/file/file-place.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import { createXlsxTarget } from '../../src/targets/xlsx/xlsx-target.ts';
import { append, never, readAll } from '../contract/target-harness.ts';
import { handMade } from './corpus/hand-made.ts';
import { refusedFiles } from './corpus/refused.ts';
import { targetOf, xlsxOptions } from './three-rounds.ts';

const mebibyte = 1024 * 1024;

test.each(refusedFiles())('$name: $code, and the file stays as it is', async ({ content, code, sheet }) => {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, 'leads.xlsx');
    await writeFile(path, content);
    const memory = process.memoryUsage().rss;
    for (const use of [
      () => readAll(targetOf(path, sheet)),
      () => targetOf(path, sheet).open({ create: true }, never()),
      () => targetOf(path, sheet).write([append('id-x', { name: 'X' })], never()),
    ]) {
      const error = await use().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(LeadsyncError);
      expect(error).toMatchObject({ code, retry: 'never' });
      expect((await readFile(path)).equals(content)).toBe(true);
    }
    expect((process.memoryUsage().rss - memory) / mebibyte).toBeLessThan(300);
    expect(await readdir(folder)).toEqual(['leads.xlsx']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a workbook whose reading breaks off is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, 'leads.xlsx');
    await writeFile(path, handMade());
    const there = localPlace(path);
    let open = 0;
    const location = await there.locate(never());
    const breaking: FileLocation = {
      ...location,
      async open(signal) {
        const file = await location.open(signal);
        if (file === null) return null;
        open += 1;
        const close = async (): Promise<void> => {
          open -= 1;
          await file[Symbol.asyncDispose]();
        };
        return {
          ...file,
          read: () => Promise.reject(new Error('EIO')),
          [Symbol.asyncDispose]: close,
        };
      },
    };
    const place = { ...there, locate: () => Promise.resolve(breaking) };
    const target = createXlsxTarget(place, xlsxOptions);
    for (const use of [
      () => target.contentTag?.(never()),
      () => target.version?.(never()),
      () => target.write([append('id-x', { name: 'X' })], never()),
      () => target.open({ create: false }, never()),
    ]) {
      await expect(use()).rejects.toThrow();
      expect(open).toBe(0);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
