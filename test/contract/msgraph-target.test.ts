import { makeMsGraphHarness, msGraphHarness } from './msgraph-harness.ts';
import { describePlace } from './place.ts';
import { describeTargetThere } from './target.ts';

describePlace('on Microsoft Graph', msGraphHarness);
describeTargetThere('csv on Microsoft Graph', makeMsGraphHarness);
