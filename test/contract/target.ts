import type { Inability, LocalHarness, MakeHarness } from './target-harness.ts';
import { describeMarks, describeNoMarks } from './target-marks.ts';
import { describeMeanwhile, describeReplaced, describeWriters } from './target-meanwhile.ts';
import { describeNewRows } from './target-new-rows.ts';
import { describePause } from './target-pause.ts';
import { describePlace } from './target-place.ts';
import { describeReading } from './target-reading.ts';
import { describeSpellings } from './target-spellings.ts';
import { describeStatus } from './target-status.ts';
import { describeWords } from './target-words.ts';
import { describeWriting } from './target-writing.ts';

/** What every adapter of the target port must do, whatever it keeps its rows in, but for what it `cannot` be put into. */
export function describeTarget(
  name: string,
  makeHarness: MakeHarness,
  inabilities: readonly Inability[] = [],
): void {
  const cannot = new Set(inabilities);
  describeReading(name, makeHarness, cannot);
  describeWriting(name, makeHarness, cannot);
  describeNewRows(name, makeHarness);
  describeStatus(name, makeHarness, cannot);
  describePause(name, makeHarness, cannot);
  describeSpellings(name, makeHarness);
  describeWords(name, makeHarness);
  describeWriters(name, makeHarness);
  describePlace(name, makeHarness);
  if (cannot.has('marks')) describeNoMarks(name, makeHarness);
  else describeMarks(name, makeHarness, cannot);
}

/** The same, and what only a file can promise: it is replaced as a whole, or not at all. */
export function describeFileTarget(
  name: string,
  makeHarness: () => Promise<LocalHarness>,
  inabilities: readonly Inability[] = [],
): void {
  describeTarget(name, makeHarness, inabilities);
  describeReplaced(name, makeHarness);
}

/** A sample for a file on a server: what depends on the place. What a target does with its rows is tried on a local file. */
export function describeTargetThere(name: string, makeHarness: MakeHarness): void {
  describePlace(name, makeHarness);
  describeWriters(name, makeHarness);
  describeNewRows(name, makeHarness);
}

/** The same, where people can be at work in the middle of something. */
export function describeEditedThere(name: string, makeHarness: () => Promise<LocalHarness>): void {
  describeTargetThere(name, makeHarness);
  describeMeanwhile(name, makeHarness);
}
