import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'vitest';

/** MANY=1: as many as the titles say; else this part of it, as in npm test. */
const scale = Number(process.env['MANY'] ?? 0.1);

export const many = (full: number): number => Math.ceil(full * scale);

/**
 * A lease is renewed every 10 s and lives 30 s: a process that stands still for half a renewal is about to lose it.
 * Far above what is measured, since machines that run tests are busy.
 */
const longestBlockMs = 5_000;

/** Peak memory of a process (MB); 100,000 leads take some 210. */
const mostMb = 400;

const measure = pathToFileURL(fileURLToPath(new URL('./measure.ts', import.meta.url))).href;

/** Environment for processes that are to be measured, and what they told. */
export function measured() {
  const folder = mkdtempSync(join(tmpdir(), 'leadsync-many-'));
  return {
    env: { NODE_OPTIONS: `--import=${measure}`, FIGURES: folder },
    /** Checks the worst of all processes that have ended, prints it, and what else is worth knowing. */
    check(what: string, facts: object): void {
      const all = readdirSync(folder).map(
        (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { blockMs: number; peakMb: number },
      );
      const [blockMs, peakMb] = [
        Math.max(...all.map((one) => one.blockMs)),
        Math.max(...all.map((one) => one.peakMb)),
      ];
      console.log(`many: ${what}: ${JSON.stringify({ ...facts, processes: all.length, blockMs, peakMb })}`);
      expect(all.length).toBeGreaterThan(0);
      expect(blockMs).toBeLessThan(longestBlockMs);
      expect(peakMb).toBeLessThan(mostMb);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
