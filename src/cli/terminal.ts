import type { OnDumpProgress } from '../store/dump.ts';
import { visibleText } from '../lib/foreign-text.ts';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { stopping } from './stop.ts';

const intervalMs = 250;
const frames = ['◒', '◐', '◓', '◑'];

/** Back to the beginning of the line, which is emptied. */
const anew = '\r\u001B[K';

/** A longer text would go on in the next line, which is not emptied. */
const fitted = (text: string): string => visibleText(text, (process.stderr.columns || 80) - 4);

/**
 * Until disposed. `look`: in a few words; null: no change. Only writes: who reads from the terminal takes Ctrl-C away from the process, and is
 * stopped in the background.
 */
export async function showProgress(
  what: string,
  look: () => Promise<string | null>,
): Promise<AsyncDisposable> {
  const { stderr } = process;
  if (!stderr.isTTY) return { async [Symbol.asyncDispose]() {} };
  let words = 'starting';
  let turn = 0;
  const timer = setInterval(() => {
    stderr.write(`${anew}${frames[((turn += 1)) % frames.length]} ${fitted(`${what}: ${words}`)}`);
    look().then(
      (found) => (words = found ?? words),
      () => {},
    );
  }, intervalMs);
  let isShown = true;
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      if (isShown) stderr.write(anew);
      isShown = false;
    },
  };
}

export async function showDumpProgress(what: string): Promise<
  AsyncDisposable & {
    readonly tell: OnDumpProgress;
    readonly tellShare: (share: number) => void;
  }
> {
  let [words, read]: [string | null, string] = [null, ''];
  const shown = await showProgress(what, async () => words);
  return {
    tell: (table, bytes) => (words = `${table}, ${megabytes(bytes)}${read}`),
    tellShare: (share) => (read = ` (${Math.floor(share * 100)} % of the file)`),
    [Symbol.asyncDispose]: () => shown[Symbol.asyncDispose](),
  };
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Asks on a terminal; anything but a yes is a no, and so is the lack of a terminal. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  // Without the terminal mode Ctrl-C stays with the process.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const closed = once(lines, 'close', { signal: stopping }).then(() => 'no');
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal: stopping }), closed]);
    return /^(?:y|yes|j|ja)$/i.test(answer.trim());
  } catch (error) {
    throw stopping.aborted ? stopping.reason : error;
  } finally {
    lines.close();
  }
}
