import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

test('whoever reads the output goes away, as `| head -1` does: the work is done, and nobody is told', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 }, others: { second: {} } });
  const sync = workspace.start(['sync']);
  sync.child.stdout?.destroy();
  expect(await sync.ended).toMatchObject({ code: 0, stderr: '' });
  // Its line is the second, after the one that nobody took.
  expect(existsSync(join(workspace.folder, 'second.csv'))).toBe(true);
});

test.each([[['status', '--runs']], [['status', '--runs', '--json']]])(
  'output that cannot be written, as on a full disk, fails the command in a sentence: %j',
  async (args) => {
    await using workspace = await Workspace.open();
    const before = ['sh', '-c', 'exec "$0" "$@" >/dev/full'];
    const { code, stderr } = await workspace.start(args, { before }).ended;
    expect(code).toBe(1);
    expect(stderr).toBe('leadsync: the output cannot be written (ENOSPC); the command goes on without it\n');
  },
);
