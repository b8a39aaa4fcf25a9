import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { LeadsPort } from '../../src/ports/leads-service.ts';
import { askLead } from '../../src/reminders/send/send-reminder.ts';
import { CircuitBreakers } from '../../src/reminders/send/circuit-breakers.ts';

const never = new AbortController().signal;

test('four leads of a connection are read at once; when they fail, those that waited are not asked about', async () => {
  const asked: string[] = [];
  const answers = Promise.withResolvers<null>();
  const get = (id: string): Promise<null> => {
    asked.push(id);
    return answers.promise;
  };
  const context = {
    connection: { name: 'main' },
    leads: { get } as unknown as LeadsPort,
    clock: { now: () => 1_000_000, random: () => 0 },
    breakers: new CircuitBreakers(),
  };
  const asking = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => askLead(context, id, 0, never));
  await expect.poll(() => asked).toEqual(['a', 'b', 'c', 'd']);
  answers.reject(new LeadsyncError('leads.unavailable', 'The service failed.', { retry: 'now' }));
  const outcomes = await Promise.all(asking);
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
  expect(outcomes.map((outcome) => 'fault' in outcome && outcome.fault?.code)).toEqual([
    ...Array<string>(4).fill('leads.unavailable'),
    undefined,
    undefined,
  ]);
});
