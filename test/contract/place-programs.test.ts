import { installedDavPrograms } from '../support/dav-programs.ts';
import { describePlace } from './place.ts';
import { programHarness } from './place-harness.ts';

for (const program of installedDavPrograms)
  describePlace(`on ${program}`, (name) => programHarness(program, name));
