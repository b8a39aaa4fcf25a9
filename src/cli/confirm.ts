import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { stopping } from './stop.ts';

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
