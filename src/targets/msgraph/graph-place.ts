import { systemClock } from '../../ports/clock.ts';
import type { FilePlace } from '../file/file-place.ts';
import { RemoteLocation } from '../remote/remote-location.ts';
import { type GraphAddress, shownAddress } from './drive-item.ts';
import { openGraphAccount, publicGraph } from './graph-account.ts';
import type { GraphApp } from './graph-credentials.ts';
import { findFile, GraphFile } from './graph-file.ts';
import { GraphHttp, type GraphOptions } from './graph-http.ts';

export interface GraphPlaceOptions extends GraphOptions {
  /** Absolute path of the folder for local copies. */
  readonly folder: string;
}

const kind = 'msgraph:';

export function openGraphPlace(
  address: GraphAddress,
  app: GraphApp,
  {
    apiUrl = publicGraph,
    ...rest
  }: Pick<GraphPlaceOptions, 'folder' | 'onReply'> & { readonly apiUrl?: string | undefined },
): FilePlace {
  const clock = systemClock;
  const account = openGraphAccount(app, apiUrl, clock);
  return graphPlace(address, { ...rest, apiUrl: `${apiUrl}/v1.0`, account, clock });
}

export function graphPlace(address: GraphAddress, options: GraphPlaceOptions): FilePlace {
  const http = new GraphHttp(shownAddress(address), options);
  const locationAt = (drive: string, path: string) =>
    new RemoteLocation(new GraphFile(idOf(drive, path), address, http), options.folder);
  let known: RemoteLocation | null = 'path' in address ? locationAt(address.drive, address.path) : null;
  return {
    name: http.name,
    isUploaded: true,
    async locate(signal) {
      if (known !== null) return known;
      // Only Graph knows where a link leads.
      const { drive, path } = await findFile(http, address, signal);
      known = locationAt(drive, path);
      return known;
    },
    formerly(id) {
      const [, drive, path] = /^msgraph:([^/]+)\/(.+)$/s.exec(id) ?? [];
      return drive === undefined || path === undefined ? null : graphPlace({ drive, path }, options);
    },
  };
}

/** SharePoint's paths do not differ in case alone. */
function idOf(drive: string, path: string): string {
  const parts = path.normalize('NFC').toLowerCase().split('/');
  return `${kind}${drive}/${parts.filter((part) => part !== '').join('/')}`;
}
