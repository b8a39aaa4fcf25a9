import { makeMsGraphHarness, msGraphHarness } from './msgraph-harness.ts';
import { describePlace } from './place.ts';
import { describeEditedThere } from './target.ts';

describePlace('on Microsoft Graph', msGraphHarness);
describeEditedThere('csv on Microsoft Graph', makeMsGraphHarness);
