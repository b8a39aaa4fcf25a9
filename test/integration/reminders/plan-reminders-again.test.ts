import { describe, expect, test } from 'vitest';
import { parseOffset } from '../../support/config-values.ts';
import { planFromRead, planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { forgetRead } from '../../../src/store/follow-ups.ts';
import { finishRun } from '../../../src/store/runs.ts';
import { dueReminders } from '../../support/due-mails.ts';
import { setMailState } from '../../support/mail-state.ts';
import { reminderConnection } from '../../support/reminder-rules.ts';
import { agree, at, hour, plan, states } from '../sync/plan-scene.ts';
import { type Scene, useScenes } from '../store/store-scene.ts';

const scene = useScenes();
const anna = 'anna@example.com';
const ben = 'ben@example.com';

describe('leads are planned again', () => {
  /** One that ends, as each sync does that moves baselines. */
  const endRun = async (here: Scene): Promise<void> => {
    const run = await here.run();
    await finishRun(here.pool, run.id, 'succeeded', null);
  };

  test('when a run has ended since, while one is under way, and when settings changed, but not otherwise', async () => {
    const here = scene();
    await endRun(here);
    await plan(here);
    // No run has said so.
    await agree(here, 'a', at(hour));
    await plan(here);
    expect(await states(here)).toEqual([]);
    const open = await here.run();
    await plan(here);
    expect(await states(here)).toEqual([`a ${anna} scheduled`]);
    await agree(here, 'b', at(hour));
    await finishRun(here.pool, open.id, 'succeeded', null);
    await plan(here);
    expect(await states(here)).toEqual([`a ${anna} scheduled`, `b ${anna} scheduled`]);
    await plan(here, { to: [ben] });
    expect(await states(here)).toContain(`b ${ben} scheduled`);
  });

  test('when a mail has shown another date meanwhile, and when reminders are configured again', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    await endRun(here);
    await plan(here);
    const connection = reminderConnection(here.connection);
    await planFromRead(here.pool, connection, 'a', { nextFollowUpAt: null });
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
    await plan(here);
    expect(await states(here)).toEqual([`a ${anna} scheduled`]);
    const { name, leads, fields } = connection;
    await planReminders(here.pool, { name, leads, fields });
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
    await plan(here);
    expect(await states(here)).toEqual([`a ${anna} scheduled`]);
  });

  test('changed settings: all are planned anew, and sent ones are not sent again', async () => {
    const here = scene();
    const due = at(hour);
    await agree(here, 'a', due);
    await agree(here, 'b', due);
    const [first] = await plan(here);
    await setMailState(here.pool, first?.id, 'sent');
    const before = [parseOffset('30m'), parseOffset('0m')];
    expect((await plan(here, { before })).map(({ leadId, offsetText }) => `${leadId} ${offsetText}`)).toEqual(
      ['a 30m', 'b 30m', 'b 0m'],
    );
    // Upper case is no other person.
    expect(await plan(here, { before, to: [anna.toUpperCase()] })).toEqual(await plan(here, { before }));
    const begin = new Date(Date.parse(due) - 60_000);
    const from = begin.getUTCHours() * 60 + begin.getUTCMinutes();
    const moved = await plan(here, { quietHours: { from, to: (from + 11) % 1440 } });
    expect(moved).toMatchObject([{ leadId: 'b', offsetText: '0m' }]);
    expect(moved[0]?.sendAt).toBeGreaterThan(Date.parse(due));
  });

  test('without reminders in the settings, or without the field, nothing stays scheduled', async () => {
    const here = scene();
    const { pool, connection } = here;
    const { leads, fields } = reminderConnection(connection);
    await agree(here, 'a', at(hour));
    expect(await plan(here)).toHaveLength(1);
    await planReminders(pool, { name: connection, leads, fields });
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
    expect(await plan(here)).toMatchObject([{ leadId: 'a' }]);
    await planReminders(pool, { ...reminderConnection(connection), fields: [] });
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
  });

  test('a mail that is being sent stays as it is, and is returned until it is finished', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    const [reminder] = await plan(here);
    await setMailState(here.pool, reminder?.id, 'sending');
    expect(await plan(here)).toMatchObject([{ state: 'sending' }]);
    await agree(here, 'a', null);
    await plan(here, { to: [ben] });
    expect(await states(here)).toEqual([`a ${anna} sending`]);
  });

  test('a lead that differed in the service: what was read counts until the next sync', async () => {
    const here = scene();
    const [agreed, read] = [at(hour), at(hour / 2)];
    await agree(here, 'a', agreed);
    const [reminder] = await plan(here);
    const connection = reminderConnection(here.connection, {});
    await planFromRead(here.pool, connection, 'a', { nextFollowUpAt: read });
    const moved = await dueReminders(here.pool, [here.connection]);
    expect(moved).toMatchObject([{ dueAt: Date.parse(read), state: 'scheduled', sequence: 1 }]);
    expect(await plan(here)).toEqual(moved);
    expect(await states(here)).toEqual([`a ${anna} scheduled`, `a ${anna} cancelled`]);
    await forgetRead(here.pool, here.connection);
    expect(await plan(here)).toMatchObject([{ id: reminder?.id, state: 'scheduled', sequence: 2 }]);
    // Nothing is to be sent by what was read: the next planning looks again.
    await planFromRead(here.pool, connection, 'a', null);
    expect(await states(here)).toEqual([`a ${anna} cancelled`, `a ${anna} cancelled`]);
    expect(await plan(here)).toMatchObject([{ id: reminder?.id, state: 'scheduled' }]);
  });
});
