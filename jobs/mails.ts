import { z } from 'zod';
import type { WorkerApp } from '../src/worker/open-worker.ts';
import type { JobHandler } from '../src/queue/work.ts';
import { leftToOthers } from './runs.ts';
import { sendMails } from '../src/worker/send-mails.ts';

const mailSchema = z.object({ connection: z.string(), isChat: z.boolean(), at: z.number() });

/** Ms after which a job comes back whose mails are in hand of another one of this process: other workers may share them. */
const backMs = 1_000;

/** The job of a moment at which mails of a connection, or messages to its chat, are due: it sends all that is due by then. */
export function mailHandlers(app: WorkerApp): Record<'send-mails', JobHandler> {
  const underWay = new Set<string>();
  return {
    'send-mails': async (payload, job, stop) => {
      const work = mailSchema.parse(payload);
      const left = leftToOthers(app, work.connection, job, {});
      if (left !== null) return left;
      const key = JSON.stringify([work.connection, work.isChat]);
      if (underWay.has(key)) return { againAfterMs: backMs };
      underWay.add(key);
      try {
        return await sendMails(app, work, stop);
      } finally {
        underWay.delete(key);
      }
    },
  };
}
