import { describeFileTarget } from './target.ts';
import { makeXlsxHarness } from './xlsx-harness.ts';

describeFileTarget('xlsx', makeXlsxHarness);
describeFileTarget('xlsx with dates', () => makeXlsxHarness({ dates: true }));
