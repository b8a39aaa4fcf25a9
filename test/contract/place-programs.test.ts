import { describe } from 'vitest';
import { davProgramNames } from '../support/dav-programs.ts';
import { describePlace } from './place.ts';
import { programHarness } from './place-harness.ts';

for (const program of davProgramNames)
  describe(`${program}:`, { tags: program }, () => {
    describePlace(`on ${program}`, (name) => programHarness(program, name));
  });
