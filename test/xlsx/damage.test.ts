import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { append, never, readAll } from '../contract/target-harness.ts';
import { writtenByExcelts } from './corpus/excelts.ts';
import { handMade } from './corpus/hand-made.ts';
import { oddFiles } from './corpus/odd.ts';
import { zip } from './corpus/zip.ts';
import { readParts } from './judge/parts.ts';
import { targetOf } from './three-rounds.ts';

const seed = 20_261_121;
/** No single use of a damaged file of a few kilobytes may take longer, on a busy machine, in milliseconds. */
const longest = 15_000;

const originals = [handMade(), ...oddFiles().map(({ content }) => content), writtenByExcelts('table')];
const original = fc.constantFrom(...originals);
const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
/** A place as a share of the length, so that it can shrink; ends are hit more often than by chance. */
const place = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1, 0.999));
const at = (share: number, content: Buffer) => Math.floor(share * content.length);

/** One thing that happens to bytes on their way. */
const mishap: fc.Arbitrary<(content: Buffer) => Buffer> = fc.oneof(
  fc.tuple(place, bytes).map(([share, put]) => (content: Buffer) => {
    const damaged = Buffer.from(content);
    put.copy(damaged, at(share, damaged));
    return damaged;
  }),
  fc.tuple(place, fc.integer({ min: 0, max: 7 })).map(([share, bit]) => (content: Buffer) => {
    const damaged = Buffer.from(content);
    const index = Math.min(at(share, damaged), damaged.length - 1);
    if (index >= 0) damaged[index] = (damaged[index] ?? 0) ^ (1 << bit);
    return damaged;
  }),
  place.map((share) => (content: Buffer) => content.subarray(0, at(share, content))),
  place.map((share) => (content: Buffer) => content.subarray(at(share, content))),
  fc.tuple(place, place).map(([one, other]) => (content: Buffer) => {
    const [from, to] = [at(Math.min(one, other), content), at(Math.max(one, other), content)];
    return Buffer.concat([content.subarray(0, from), content.subarray(to)]);
  }),
  fc.tuple(place, place).map(([one, other]) => (content: Buffer) => {
    const [from, to] = [at(Math.min(one, other), content), at(Math.max(one, other), content)];
    return Buffer.concat([content.subarray(0, to), content.subarray(from)]);
  }),
  fc.tuple(place, bytes).map(([share, put]) => (content: Buffer) => {
    const index = at(share, content);
    return Buffer.concat([content.subarray(0, index), put, content.subarray(index)]);
  }),
);
const mishaps = fc.array(mishap, { minLength: 1, maxLength: 3 });
const afterAll = (content: Buffer, many: readonly ((content: Buffer) => Buffer)[]) =>
  many.reduce((result, one) => one(result), content);

/** Pieces of XML, right and wrong, to put into parts. */
const xmlBytes = fc
  .constantFrom(
    '<',
    '>',
    '&',
    '"',
    "'",
    ']]>',
    '<!--',
    '<?',
    '<c r="ZZZZ9999999">',
    '<row r="0"/>',
    '<row r="-1">',
    's="99999"',
    '<v>1e999</v>',
    '</row>',
    '<f t="shared" si="7"/>',
    '&#0;',
    '&#x110000;',
    '<![CDATA[',
    '\u0000',
    'r="A1"',
    'ref="A1:XFD1048576"',
    '<mergeCell ref="A1:Z99"/>',
    't="s"><v>-1</v>',
    't="s"><v>4294967296</v>',
  )
  .map((text) => Buffer.from(text));
const xmlMishap = fc.tuple(place, fc.integer({ min: 0, max: 20 }), xmlBytes).map(
  ([share, instead, put]) =>
    (content: Buffer) =>
      Buffer.concat([
        content.subarray(0, at(share, content)),
        put,
        content.subarray(at(share, content) + instead),
      ]),
);

/** Reads and writes the file: in time, with no other fault than ours, and the file either whole or as it was. */
async function useDamaged(content: Buffer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, 'leads.xlsx');
    await writeFile(path, content);
    const began = performance.now();
    const before = await readAll(targetOf(path)).catch(onlyOurs);
    expect((await readFile(path)).equals(content)).toBe(true);
    const written = await targetOf(path)
      .write([append('id-new', { name: 'New', city: null, due: '2026-11-21T08:30:00.000Z' })], never())
      .catch(onlyOurs);
    expect(performance.now() - began).toBeLessThan(longest);
    const now = await readFile(path);
    if (written !== null && written.every(({ status }) => status === 'done')) {
      const after = await readAll(targetOf(path));
      expect(after.filter(({ leadId }) => leadId !== 'id-new')).toEqual(before);
      expect(after.some(({ leadId }) => leadId === 'id-new')).toBe(true);
      expect(readParts(now).size).toBeGreaterThan(0);
    } else {
      expect(now.equals(content)).toBe(true);
    }
    expect(await readdir(folder)).toEqual(['leads.xlsx']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** By code, and with a sentence; an empty file is as good as none, so a write has nowhere to go. */
function onlyOurs(error: unknown): null {
  expect(error).toBeInstanceOf(LeadsyncError);
  expect((error as LeadsyncError).code).toMatch(
    /^target\.(unreadable|incomplete|incomplete|header-missing|id-column-missing|changed)$/,
  );
  return null;
}

test('a damaged zip: a clear error or a right result, in time, and never a lost file', async () => {
  await fc.assert(
    fc.asyncProperty(original, mishaps, (content, many) => useDamaged(afterAll(content, many))),
    { seed, numRuns: 200 },
  );
});

test('damaged parts in a sound zip: likewise', async () => {
  await fc.assert(
    fc.asyncProperty(
      original,
      fc.nat(),
      fc.array(fc.oneof(mishap, xmlMishap, xmlMishap), { minLength: 1, maxLength: 3 }),
      (content, pick, many) => {
        const parts = new Map(readParts(content));
        const names = [...parts.keys()].filter((name) => /\.(xml|rels)$/.test(name));
        // Half of the cases hit the first sheet, where the most can go wrong.
        const sheet = names.find((name) => name.endsWith('sheet1.xml'));
        const name = (pick % 2 === 0 ? sheet : undefined) ?? names[pick % names.length] ?? '';
        parts.set(name, afterAll(parts.get(name) ?? Buffer.alloc(0), many));
        return useDamaged(zip(parts));
      },
    ),
    { seed, numRuns: 200 },
  );
});
