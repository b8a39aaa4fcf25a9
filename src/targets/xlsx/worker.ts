import { read } from 'node:fs';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { LeadsyncError } from '../../lib/errors.ts';
import { doXlsxTask } from './task.ts';
import type { ThreadAnswer, ThreadData } from './thread.ts';

/** Does one task in a thread: each message requests the next result, so that none pile up. */
const { fd, size, options, task } = workerData as ThreadData;
const readAt = promisify(read);
const access = {
  size,
  async read(position: number, length: number) {
    const { buffer, bytesRead } = await readAt(fd, Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  },
};
const results = doXlsxTask(access, options, task);

parentPort?.on('message', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
  void answer().then((message) => parentPort?.postMessage(message));
});

async function answer(): Promise<ThreadAnswer> {
  try {
    return { next: await results.next() };
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    const { code, message, help, retry } = error;
    return { fault: { code, message, help, retry } };
  }
}
