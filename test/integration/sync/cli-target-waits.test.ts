import { expect, test, vi } from 'vitest';
import { Scene } from '../google-sheets/cli-google-sheets-scene.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 180_000 });

test('Google asks for an hour: sync says who waits for whom until when, resume does not claim to end it, the next sync asks again', async () => {
  await using scene = await Scene.open({}, 3);
  scene.sheets.before = () => ({ status: 429, retryAfter: '3600' });
  const waiting = await scene.cli('sync');
  expect(waiting.code).toBe(1);
  expect(waiting.stdout + waiting.stderr).toMatch(
    /main waits until 20\d\d-.*, because .*Leads asked to wait.*leadsync sync tries again/s,
  );
  expect(waiting.stdout + waiting.stderr).not.toContain('leadsync resume');
  expect((await scene.cli('resume')).stdout).toContain('the Leads service has not asked to wait');
  scene.sheets.before = null;
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', created: { rows: 3 } });
});
