import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FilePlace } from '../../src/targets/file/file-place.ts';
import { webDavPlace } from '../../src/targets/webdav/webdav-file.ts';
import { startDavServer } from '../support/dav-server.ts';
import type { CsvHarness } from './csv-harness.ts';
import type { LocalHarness } from './target-harness.ts';
import type { XlsxHarness } from './xlsx-harness.ts';

/** A file that leadsync reaches over WebDAV alone, and people in its folder. */
export async function served(
  make: (placeOf: (path: string) => FilePlace) => Promise<CsvHarness | XlsxHarness>,
): Promise<LocalHarness> {
  let origin = '';
  const harness = await make((path) =>
    webDavPlace({
      url: `${origin}/${basename(path)}`,
      authorization: () => null,
      folder: `${harness.folder}-copies`,
    }),
  );
  const server = await startDavServer(harness.folder);
  ({ origin } = server);
  return {
    ...harness,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(`${harness.folder}-copies`, { recursive: true, force: true });
      await harness[Symbol.asyncDispose]();
    },
  };
}
