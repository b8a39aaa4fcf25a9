import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { append, never, readAll } from '../contract/target-harness.ts';
import { refusedFiles } from './corpus/refused.ts';
import { targetOf } from './three-rounds.ts';

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
