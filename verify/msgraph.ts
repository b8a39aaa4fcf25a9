/**
 * Finds out whether Microsoft Graph is as leadsync and its stand-in take it to be, on a file of its own in a drive of yours,
 * which is deleted afterwards:
 *
 *     MSGRAPH_TENANT=… MSGRAPH_CLIENT_ID=… MSGRAPH_CLIENT_SECRET=… VERIFY_DRIVE='b!…' npm run verify:msgraph
 *
 * Take a site for tests. TARGET_API_URL: another address than Microsoft's.
 * Exit code 0: all is as expected; 1: something is not, or the file was left behind; 2: it could not begin.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Secret } from '../src/config/secret.ts';
import { LeadsyncError } from '../src/lib/errors.ts';
import { systemClock } from '../src/ports/clock.ts';
import {
  addressPath,
  type DriveItem,
  driveItem,
  itemFields,
  itemPath,
} from '../src/targets/msgraph/drive-item.ts';
import { openGraphAccount, publicGraph } from '../src/targets/msgraph/graph-account.ts';
import { GraphHttp, type GraphReply } from '../src/targets/msgraph/graph-http.ts';
import { uploadInParts } from '../src/targets/msgraph/graph-file.ts';
import { Differs } from './check.ts';

const { env } = process;
const signal = AbortSignal.timeout(10 * 60_000);
const url = env['TARGET_API_URL'] ?? publicGraph;
const secret = (name: string) => (env[name] === undefined ? undefined : new Secret(env[name]));
const account = openGraphAccount(
  {
    tenant: env['MSGRAPH_TENANT'],
    clientId: env['MSGRAPH_CLIENT_ID'],
    clientSecret: secret('MSGRAPH_CLIENT_SECRET'),
  },
  url,
  systemClock,
);
const http = new GraphHttp('the file', { apiUrl: `${url}/v1.0`, account, clock: systemClock });
const drive = env['VERIFY_DRIVE'] ?? '';
const path = `leadsync verify ${randomUUID()}.csv`;
const statuses = [400, 403, 404, 409, 412, 423];

async function verify(): Promise<number> {
  const first = await begin();
  if (first === null) return 2;
  let otherwise = 0;
  for (const [title, check] of checks) {
    try {
      print(`as expected  ${title}: ${await check(await item())}`);
    } catch (error) {
      otherwise += 1;
      print(`otherwise    ${title}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const { status } = await http.ask({ method: 'DELETE', path: itemPath(first), answers: statuses }, signal);
  print(status < 300 ? 'The file was deleted.' : `Delete ${path} by hand (${status}).`);
  print(`${checks.length - otherwise} as expected, ${otherwise} otherwise than the stand-in.`);
  return otherwise === 0 && status < 300 ? 0 : 1;
}

async function begin(): Promise<DriveItem | null> {
  try {
    const reply = await put(
      `${addressPath({ drive, path })}:/content?@microsoft.graph.conflictBehavior=fail`,
      'a',
    );
    if (reply.status < 300) return http.parse(reply, driveItem);
    print(`It could not begin: making a file was answered with ${reply.status} ${reply.codes.join(' ')}.`);
  } catch (error) {
    const help = error instanceof LeadsyncError ? ` ${error.help ?? ''}` : '';
    print(`It could not begin: ${error instanceof Error ? error.message : String(error)}${help}`);
  }
  return null;
}

type Check = readonly [title: string, check: (now: DriveItem) => Promise<string>];

/** What leadsync relies on. */
const checks: readonly Check[] = [
  [
    'conflictBehavior=fail keeps a file that is there',
    async () =>
      expectStatus(
        await put(`${addressPath({ drive, path })}:/content?@microsoft.graph.conflictBehavior=fail`, 'b'),
        [409],
      ),
  ],
  [
    'If-Match with the eTag lets an upload of content through',
    async (now) => expectStatus(await put(`${itemPath(now)}/content`, 'b', now.eTag), [200]),
  ],
  [
    'If-Match with a former eTag keeps the content',
    async (now) => {
      await put(`${itemPath(now)}/content`, 'theirs', now.eTag);
      const said = expectStatus(await put(`${itemPath(now)}/content`, 'ours', now.eTag), [412, 409]);
      const content = await download(now);
      if (content !== 'theirs') throw new Differs(`${said}, but the content is ${JSON.stringify(content)}`);
      return said;
    },
  ],
  [
    'an upload session with a former eTag is refused',
    async (now) => {
      await put(`${itemPath(now)}/content`, 'newer', now.eTag);
      const parts = await uploadInParts(http, now, uploadOf('ours'), async () => true, signal);
      if (parts !== null) throw new Differs('it was stored');
      return 'refused';
    },
  ],
  [
    'an upload session with deferCommit stores at its end',
    async (now) => {
      const parts = await uploadInParts(http, now, uploadOf('in parts'), async () => true, signal);
      if (parts === null) throw new Differs('the eTag of the moment was refused');
      return `${parts.size} bytes`;
    },
  ],
  [
    'the cTag moves with the content, and stays for ten seconds after a save',
    async (now) => {
      await put(`${itemPath(now)}/content`, 'moved', now.eTag);
      const saved = await item();
      if (saved.content === now.content) throw new Differs('it did not move');
      await pause(Number(env['VERIFY_PAUSE_MS'] ?? 10_000));
      const later = await item();
      if (later.content !== saved.content) throw new Differs(`${saved.content} became ${later.content}`);
      return saved.eTag === later.eTag ? 'the eTag stayed too' : 'the eTag moved';
    },
  ],
  [
    'a missing file is 404',
    async () =>
      expectStatus(
        await http.ask({ path: addressPath({ drive, path: `no ${path}` }), answers: statuses }, signal),
        [404],
      ),
  ],
];

function expectStatus({ status, codes }: GraphReply, expected: readonly number[]): string {
  const said = [status, ...codes].join(' ');
  if (!expected.includes(status)) throw new Differs(`${said}, not ${expected.join(' or ')}`);
  return said;
}

function item(): Promise<DriveItem> {
  return http.read({ path: `${addressPath({ drive, path })}?$select=${itemFields}` }, driveItem, signal);
}

function uploadOf(text: string) {
  return { size: Buffer.byteLength(text), chunks: () => Readable.from([Buffer.from(text)]) };
}

function put(at: string, text: string, eTag?: string): Promise<GraphReply> {
  const headers = eTag === undefined ? {} : { 'if-match': eTag };
  return http.ask({ method: 'PUT', path: at, headers, upload: uploadOf(text), answers: statuses }, signal);
}

async function download(now: DriveItem): Promise<string> {
  const { location } = await http.ask({ path: `${itemPath(now)}/content`, answers: [302] }, signal);
  const parts: Buffer[] = [];
  const into = async (chunk: Buffer): Promise<void> => void parts.push(chunk);
  await http.ask({ path: location ?? '', into }, signal);
  return Buffer.concat(parts).toString();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await verify();
