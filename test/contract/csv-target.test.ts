import { makeCsvHarness } from './csv-harness.ts';
import { describeTarget } from './target.ts';

describeTarget('csv', makeCsvHarness);
