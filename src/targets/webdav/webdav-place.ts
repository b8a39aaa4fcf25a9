import type { OnReply } from '../../http/exchange.ts';
import type { FilePlace } from '../file/file-place.ts';
import { RemoteLocation } from '../remote/remote-location.ts';
import { WebDavFile } from './webdav-file.ts';
import { WebDavHttp } from './webdav-http.ts';

export interface WebDavOptions {
  /** The address of the file: https, or http to this machine. */
  readonly url: string;
  /** As it is now; null: none. */
  readonly authorization: () => string | null;
  /** Absolute path of the folder for local copies. */
  readonly folder: string;
  readonly onReply?: OnReply;
}

const kind = 'webdav:';

export function webDavPlace(options: WebDavOptions): FilePlace {
  const { url, folder } = options;
  const location = new RemoteLocation(new WebDavFile(new WebDavHttp(options), idOf(url)), folder);
  return {
    name: url,
    isUploaded: true,
    locate: async () => location,
    // The password is for one host.
    formerly(id) {
      const former = id.startsWith(kind) ? URL.parse(id.slice(kind.length)) : null;
      return former?.origin === new URL(url).origin ? webDavPlace({ ...options, url: former.href }) : null;
    },
  };
}

/** One spelling for all ways to encode a path. */
function idOf(url: string): string {
  const { origin, pathname } = new URL(url);
  const names = pathname
    .split('/')
    .map((name) => encodeURIComponent(decodeURIComponent(name).normalize('NFC')));
  return kind + origin + names.join('/');
}
