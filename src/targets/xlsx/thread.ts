import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LeadsyncError, type Retry } from '../../errors.ts';
import { watchedAccess, type SourceFile } from '../file/source-file.ts';
import { xlsxFaults } from './fault.ts';
import { doXlsxJob, type XlsxJob, type XlsxResult } from './task.ts';

/** From this packed size on (bytes) a thread is worth its start. */
const threadBytes = 256 * 1024;
/** A thread's heap limit; texts and packed bytes are not in it. Sheets of any length need far less. */
const threadMegabytes = 512;

/** The thread's input, and its answer to each `next`. */
export interface ThreadJob {
  readonly fd: number;
  readonly size: number;
  readonly job: XlsxJob;
}
export type ThreadAnswer =
  | { readonly kind: 'result'; readonly result: XlsxResult }
  | { readonly kind: 'end' }
  | {
      readonly kind: 'fault';
      readonly code: string;
      readonly message: string;
      readonly help: string | undefined;
      readonly retry: Retry;
    };

/** Runs the job without blocking the event loop: large files in a thread, small or known ones here in steps. */
export function runXlsxJob(file: SourceFile, job: XlsxJob, signal: AbortSignal): AsyncGenerator<XlsxResult> {
  const isKnown = job.task.kind === 'plan' && job.task.known !== null;
  return file.stat.size < threadBytes || isKnown
    ? doXlsxJob(watchedAccess(file, signal), job)
    : inThread({ fd: file.fd, size: Number(file.stat.size), job }, signal);
}

async function* inThread(workerData: ThreadJob, signal: AbortSignal): AsyncGenerator<XlsxResult> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
      worker.postMessage('next');
      const answer = await answerOf(worker, signal);
      if (answer.kind === 'end') return;
      if (answer.kind === 'fault') throw new LeadsyncError(answer.code, answer.message, faultOptions(answer));
      yield answer.result;
    }
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    throw xlsxFaults(workerData.job.name)('needs more memory than a workbook may', undefined, error);
  } finally {
    // The thread must not read from a closed file.
    await worker.terminate();
  }
}

async function answerOf(worker: Worker, signal: AbortSignal): Promise<ThreadAnswer> {
  // `once` also rejects when the thread fails.
  const [answer] = (await once(worker, 'message', { signal })) as [ThreadAnswer];
  return answer;
}

function faultOptions({ help, retry }: Extract<ThreadAnswer, { kind: 'fault' }>) {
  return help === undefined ? { retry } : { retry, help };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
