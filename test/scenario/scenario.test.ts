import { describe, test } from 'vitest';
import { editScenarios } from './edits.ts';
import { runScenario } from './run-scenario.ts';

describe('edits of a known pair', () => {
  test.each(editScenarios)('$title', runScenario);
});
