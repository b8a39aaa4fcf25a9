import { describe, test } from 'vitest';
import { badInputScenarios } from './bad-input.ts';
import { lostReplyScenarios } from './creates.ts';
import { decisionScenarios, guardScenarios } from './decisions.ts';
import { deletionScenarios } from './deletions.ts';
import { editScenarios } from './edits.ts';
import { existingLeadScenarios } from './existing-leads.ts';
import { changedMatchScenarios } from './matches-changed.ts';
import { matchScenarios } from './matches.ts';
import { outsideScenarios } from './outside.ts';
import { pairScenarios } from './pairs.ts';
import { pauseScenarios } from './pauses.ts';
import { runScenario } from './run-scenario.ts';
import { sameRowScenarios } from './same-rows.ts';
import { faultScenarios, keyScenarios } from './service-faults.ts';
import { statusScenarios } from './statuses.ts';
import { wordScenarios } from './words.ts';

describe.each([
  ['new leads, new rows, first sights', pairScenarios],
  ['rows that lost their ids, and other spellings of ids', sameRowScenarios],
  ['new rows and new leads that may be one', [...matchScenarios, ...changedMatchScenarios]],
  ['edits of a known pair', editScenarios],
  ['one side is gone', deletionScenarios],
  ['leads that the list does not show', outsideScenarios],
  ['rows that people pause', pauseScenarios],
  ['words that differ', wordScenarios],
  ['decisions of a person', decisionScenarios],
  ['the guard', guardScenarios],
  ['what the status column says', statusScenarios],
  ['replies that are lost', lostReplyScenarios],
  ['creates that are none', existingLeadScenarios],
  ['bad input', [...badInputScenarios, ...keyScenarios]],
  ['a service that does not answer as it should', faultScenarios],
])('%s', (_, scenarios) => {
  test.each(scenarios)('$title', runScenario);
});
