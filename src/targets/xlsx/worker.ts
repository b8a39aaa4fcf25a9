import { read } from 'node:fs';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { LeadsyncError } from '../../errors.ts';
import { doXlsxJob } from './task.ts';
import type { ThreadAnswer, ThreadJob } from './thread.ts';

/** Reads one workbook in a thread: each message requests the next result, so that none pile up. */
const { fd, size, job } = workerData as ThreadJob;
const port = parentPort;
if (port === null) throw new Error('xlsx-worker.ts must run as a worker thread');

const readAt = promisify(read);
const results = doXlsxJob(
  {
    size,
    async read(position, length) {
      const { buffer, bytesRead } = await readAt(fd, Buffer.allocUnsafe(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
  },
  job,
);

port.on('message', () => {
  void answer().then((message) => port.postMessage(message));
});

async function answer(): Promise<ThreadAnswer> {
  try {
    const next = await results.next();
    return next.done === true ? { kind: 'end' } : { kind: 'result', result: next.value };
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    const { code, message, help, retry } = error;
    return { kind: 'fault', code, message, help, retry };
  }
}
