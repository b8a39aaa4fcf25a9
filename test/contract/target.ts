import type { MakeHarness } from './target-harness.ts';
import { describeMeanwhile } from './target-meanwhile.ts';
import { describeReading } from './target-reading.ts';
import { describeStatus } from './target-status.ts';
import { describeWriting } from './target-writing.ts';

/** What every adapter of the target port must do, whatever it keeps its rows in. */
export function describeTarget(name: string, makeHarness: MakeHarness): void {
  describeReading(name, makeHarness);
  describeWriting(name, makeHarness);
  describeStatus(name, makeHarness);
  describeMeanwhile(name, makeHarness);
}
