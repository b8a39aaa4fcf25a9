import { describeTarget } from './target.ts';
import { makeXlsxHarness } from './xlsx-harness.ts';

describeTarget('xlsx', makeXlsxHarness);
describeTarget('xlsx with dates', () => makeXlsxHarness({ dates: true }));
