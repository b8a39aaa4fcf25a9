/**
 * A process that takes a job and never ends it: arguments are the backend (JSON), the queue and how long a lock lasts (ms). It
 * prints `taken` when it has the job, and stays until it is killed.
 */
import { pino } from 'pino';
import { openQueues, type QueueBackend } from '../../../src/queue/queue.ts';

const [, , backend = '', name = '', lockMs = ''] = process.argv;
const queues = await openQueues(JSON.parse(backend) as QueueBackend, pino({ level: 'silent' }), 1, {
  lockMs: Number(lockMs),
});
queues.queue(name).work({
  job: () => {
    console.log('taken');
    return new Promise(() => {});
  },
});
process.stdin.resume();
