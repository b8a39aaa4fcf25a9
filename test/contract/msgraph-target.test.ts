import { makeMsGraphHarness, msGraphHarness } from './msgraph-harness.ts';
import { describePlace } from './place.ts';
import { describeWriters } from './target-meanwhile.ts';
import { describeNewRows } from './target-new-rows.ts';
import { describePlace as describeTargetPlace } from './target-place.ts';

describePlace('on Microsoft Graph', msGraphHarness);

// What a target does with its rows is tried on a local file; here, what depends on the place.
describeTargetPlace('csv on Microsoft Graph', makeMsGraphHarness);
describeWriters('csv on Microsoft Graph', makeMsGraphHarness);
describeNewRows('csv on Microsoft Graph', makeMsGraphHarness);
