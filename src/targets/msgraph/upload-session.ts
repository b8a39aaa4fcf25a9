import { Readable } from 'node:stream';
import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import type { Upload } from '../remote/remote-file.ts';
import { type DriveItem, driveItem, itemPath } from './drive-item.ts';
import { isMoved } from './graph-fault.ts';
import type { GraphHttp, GraphReply } from './graph-http.ts';

/** 32 × 320 KiB, as Microsoft recommends: every part but the last must be a multiple of 320 KiB. */
const partBytes = 32 * 327_680;
/** Faults in a row that end an upload. */
const mostFaults = 5;

const session = z.object({ uploadUrl: z.string() }).describe('an upload session');
const progress = z
  .object({ nextExpectedRanges: z.array(z.string()) })
  .describe('what of an upload is missing');

/**
 * In parts, which Graph puts together at the end while the file has the eTag of `item`. Null: it has another, or `isSame`, called just
 * before the end, returns false. After a fault the session's progress is read. A failed upload is deleted.
 */
export async function uploadInParts(
  http: GraphHttp,
  item: DriveItem,
  upload: Upload,
  isSame: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<DriveItem | null> {
  const begun = await http.ask(
    {
      method: 'POST',
      path: `${itemPath(item)}/createUploadSession`,
      headers: { 'if-match': item.eTag },
      json: { deferCommit: true, item: { '@microsoft.graph.conflictBehavior': 'replace', name: item.name } },
      answers: [409, 412],
    },
    signal,
  );
  if (isMoved(begun)) return null;
  if (begun.status === 409) throw http.fault(begun);
  const { uploadUrl } = http.parse(begun, session);
  let isDone = false;
  try {
    await sendParts(http, uploadUrl, upload, signal);
    if (!(await isSame())) return null;
    const end = {
      method: 'POST',
      path: uploadUrl,
      headers: { 'content-length': '0' },
      answers: [409, 412],
    } as const;
    const reply = await http.ask(end, signal);
    if (isMoved(reply)) return null;
    if (reply.status >= 300) throw http.fault(reply);
    isDone = true;
    return http.parse(reply, driveItem);
  } finally {
    // Also after a stop; Graph deletes uncancelled sessions within days.
    if (!isDone)
      await http
        .ask({ method: 'DELETE', path: uploadUrl, answers: [404] }, AbortSignal.timeout(5_000))
        .catch(() => undefined);
  }
}

async function sendParts(
  http: GraphHttp,
  uploadUrl: string,
  upload: Upload,
  signal: AbortSignal,
): Promise<void> {
  let start = 0;
  for await (const part of partsOf(upload.chunks())) {
    const end = start + part.length;
    let faults = 0;
    for (let at = start; at < end; ) {
      const next = await sendPart(http, uploadUrl, part.subarray(at - start), at, upload.size, signal);
      faults = next > at ? 0 : faults + 1;
      if (faults > mostFaults) throw stuck(http.name);
      // Of what comes before, Graph has said that it arrived.
      at = Math.max(next, start);
    }
    start = end;
  }
}

async function sendPart(
  http: GraphHttp,
  uploadUrl: string,
  bytes: Buffer,
  start: number,
  size: number,
  signal: AbortSignal,
): Promise<number> {
  const end = start + bytes.length;
  const headers = { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  const upload = { size: bytes.length, chunks: () => Readable.from([bytes]) };
  try {
    // 416: this part had arrived, and the reply was lost.
    const sent = await http.ask({ method: 'PUT', path: uploadUrl, headers, upload, answers: [416] }, signal);
    return nextStart(sent, end);
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.unavailable') throw error;
    return nextStart(await http.ask({ path: uploadUrl }, signal), start);
  }
}

async function* partsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [held, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    const whole = Buffer.concat(held);
    yield whole.subarray(0, partBytes);
    [held, bytes] = [[whole.subarray(partBytes)], bytes - partBytes];
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function stuck(name: string): LeadsyncError {
  const message = `Microsoft does not take the next part of ${name}. Nothing was written.`;
  return new LeadsyncError('target.unavailable', message, { retry: 'later' });
}

/** The first byte that has not arrived; `usual` where the reply does not tell. */
function nextStart({ json }: GraphReply, usual: number): number {
  const [range = ''] = progress.safeParse(json).data?.nextExpectedRanges ?? [];
  const [, start] = /^(\d+)-/.exec(range) ?? [];
  return start === undefined ? usual : Number(start);
}
