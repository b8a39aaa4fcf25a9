import { makeGoogleSheetsHarness } from './google-sheets-harness.ts';
import { describeTarget } from './target.ts';

describeTarget('google sheets', makeGoogleSheetsHarness);
