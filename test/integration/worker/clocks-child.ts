/**
 * A worker of a schedule that is due every second, on a machine whose clock is wrong (shifted-clock.ts): argument is the database.
 * It prints, for each of five jobs, how late (ms, by the clock of the database) the job began.
 */
import { pino } from 'pino';
import { openQueues } from '../../../src/queue/queue.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { databaseNow, useDatabaseTime } from '../../../src/store/database-time.ts';

const [, , connectionString = ''] = process.argv;
const pool = openDatabase({ connectionString });
await useDatabaseTime(pool);
const queues = await openQueues({ kind: 'postgres', connectionString }, pino({ level: 'silent' }), 1);
const queue = queues.queue('slots');
let slots = 0;
queue.work({
  async slot(_payload, { requestedAt }) {
    console.log(Math.round((await databaseNow(pool)) - requestedAt));
    slots += 1;
    if (slots === 5) process.exit();
    return { done: {} };
  },
});
await queue.schedule('each-second', '* * * * * *', 'UTC', 'slot', {});
