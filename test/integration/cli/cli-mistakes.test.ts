import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

describe('a mistake in the call or the configuration: 2, {"error": …}, nothing is touched', () => {
  const commands = [
    ['sync'],
    ['plan'],
    ['status'],
    ['check'],
    ['conflicts'],
    ['resolve', '1', '--use', 'lead'],
    ['worker'],
  ];

  test('no configuration at all: config.missing', async () => {
    await using workspace = await Workspace.open();
    rmSync(join(workspace.folder, 'leadsync.yaml'));
    const env = { LEADS_API_KEY: '' };
    await Promise.all(
      commands.map(async (command) => {
        const result = await workspace.start([...command, '--json'], { env }).ended;
        expect(result.code, result.stdout + result.stderr).toBe(2);
        expect(oneObject(result)).toEqual({
          error: { code: 'config.missing', message: expect.any(String), help: expect.any(String) },
        });
      }),
    );
  });

  test('mistakes in the file and in the environment: config.invalid, all are told at once', async () => {
    await using workspace = await Workspace.open({ connection: { sync: { schedule: 'nightly' } } });
    await Promise.all(
      commands.map(async (command) => {
        const result = await workspace.start([...command, '--json'], { env: { PORT: 'eighty' } }).ended;
        expect(result.code, result.stdout + result.stderr).toBe(2);
        expect(oneObject(result)).toMatchObject({ error: { code: 'config.invalid' } });
        expect(result.stderr).toContain('schedule');
        expect(result.stderr).toContain('PORT');
      }),
    );
  });

  test('arguments that are wrong', async () => {
    await using workspace = await Workspace.open();
    await workspace.sync();
    const asked = workspace.sandbox.stats.requests;
    const cases: readonly [string[], string][] = [
      [['sync', '--connection', 'nowhere'], 'usage.unknown-connection'],
      [['resolve', '1', '--use', 'lead'], 'usage.unknown-conflict'],
      [['resolve', '1e3', '--use', 'lead'], 'usage.unknown-conflict'],
      [['sandbox', '--leads', '-1'], 'usage.not-a-number'],
      [['sandbox', '--faults', 'nonsense'], 'sandbox.faults-invalid'],
      [['sandbox', '--rate', '10'], 'sandbox.rate-invalid'],
      [['demo', '--dir', '.'], 'usage.folder-not-empty'],
      [['sync', '--config', 'nowhere.yaml'], 'config.invalid'],
      [['sync', '--allow', 'nonsense'], 'usage.invalid'],
      [['status', '--runs', '--feeds'], 'usage.invalid'],
      [['status', '--reminders', 'Acme', '--new-link-key'], 'usage.invalid'],
      [['resolve', '1', '--use', 'both'], 'usage.invalid'],
      [['resolve', '1'], 'usage.invalid'],
      [['status', '--limit', '3'], 'usage.invalid'],
      [['sync', '--nonsense'], 'usage.invalid'],
      [['nonsense'], 'usage.invalid'],
      [[], 'usage.invalid'],
    ];
    await Promise.all(
      cases.map(async ([args, code]) => {
        const result = await workspace.cli(...args, '--json');
        expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).toBe(2);
        expect(oneObject(result)).toMatchObject({ error: { code } });
        expect(result.stderr).not.toBe('');
      }),
    );
    expect(workspace.sandbox.stats.requests).toBe(asked);
  });

  test('help: 0; no command at all: 2', async () => {
    await using workspace = await Workspace.open();
    const help = await workspace.cli('--help');
    expect(help.code).toBe(0);
    for (const command of [
      'demo',
      'check',
      'plan',
      'sync',
      'worker',
      'status',
      'conflicts',
      'resolve',
      'sandbox',
    ])
      expect(help.stdout).toContain(command);
    expect((await workspace.cli('sync', '--help')).code).toBe(0);
    expect((await workspace.cli()).code).toBe(2);
  });
});
