import { hubspotCannot, makeHubSpotHarness } from './hubspot-harness.ts';
import { describeTarget } from './target.ts';

describeTarget('hubspot target', () => makeHubSpotHarness(), hubspotCannot);

describeTarget(
  'hubspot target in a portal that says as little as it can',
  () => makeHubSpotHarness({ order: 'input', partial: '200', traceIds: false }),
  hubspotCannot,
);
