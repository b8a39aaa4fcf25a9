import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

test('a mail template that cannot be read is told before the worker is ready, though no mail is due', async () => {
  const reminders = { from: 'sales@example.com', to: ['anna@example.com'], templates: './templates' };
  await using workspace = await Workspace.open({ connection: { reminders } });
  await mkdir(join(workspace.folder, 'templates', 'reminder.subject.liquid'), { recursive: true });
  const worker = workspace.start(['worker']);
  await until('the worker is ready', () => {
    if (worker.child.exitCode !== null) throw new Error(worker.stderr);
    return worker.stderr.includes('"worker is ready"');
  });
  expect(worker.stderr).toMatch(/the mail templates in .* cannot be read[^]*"worker is ready"/);
});
