import type { MakeHarness } from './target-harness.ts';
import { describeReplaced, describeWriters } from './target-meanwhile.ts';
import { describeReading } from './target-reading.ts';
import { describeStatus } from './target-status.ts';
import { describeWriting } from './target-writing.ts';

/** What every adapter of the target port must do, whatever it keeps its rows in. */
export function describeTarget(name: string, makeHarness: MakeHarness): void {
  describeReading(name, makeHarness);
  describeWriting(name, makeHarness);
  describeStatus(name, makeHarness);
  describeWriters(name, makeHarness);
}

/** The same, and what only a file can promise: it is replaced as a whole, or not at all. */
export function describeFileTarget(name: string, makeHarness: MakeHarness): void {
  describeTarget(name, makeHarness);
  describeReplaced(name, makeHarness);
}
