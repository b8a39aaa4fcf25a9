import { makeCsvHarness } from './csv-harness.ts';
import { describeEditedThere } from './target.ts';
import { served } from './webdav-harness.ts';
import { makeXlsxHarness } from './xlsx-harness.ts';

describeEditedThere('csv over WebDAV', () => served(makeCsvHarness));
describeEditedThere('xlsx over WebDAV', () =>
  served((placeOf) => makeXlsxHarness({ dates: false }, placeOf)),
);
