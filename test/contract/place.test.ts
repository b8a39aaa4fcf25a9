import { describe } from 'vitest';
import { describePlace } from './place.ts';
import { apacheHarness, davHarness, localHarness } from './place-harness.ts';

describePlace('on this machine', localHarness);
describe('Apache', { tags: 'apache2' }, () => {
  describePlace('on Apache', apacheHarness);
});
describePlace('on a server with strong ETags', davHarness);
describePlace('on a server without ETags', (name) => davHarness(name, { etags: 'none' }));
describePlace('on a server that ignores conditions', (name) =>
  davHarness(name, { isHeedless: true, isSilent: true }),
);
