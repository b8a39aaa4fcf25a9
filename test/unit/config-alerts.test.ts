import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { configFolder, connection, env } from './config-file-scene.ts';

const { folder, load, mistakesOf } = configFolder();

const minimal = {
  LEADS_BASE_URL: 'https://api.example.com/',
  LEADS_API_KEY: 'top-secret',
  TARGET: 'leads.csv',
};

describe('alerts', () => {
  test('in the file, with the sender of the reminders', async () => {
    const config = await load(
      connection(
        '    reminders: { to: [a@example.com], from: Sales <sales@example.com> }\n' +
          'alerts: { email: [ops@example.com], webhook: "https://hooks.example.com/geheim?x=1", heartbeat: "https://hc.example.com/geheim/{connection}" }',
      ),
    );
    expect(config.alerts).toMatchObject({
      email: ['ops@example.com'],
      from: 'Sales <sales@example.com>',
    });
    expect(config.alerts?.webhook?.reveal()).toBe('https://hooks.example.com/geheim?x=1');
    expect(config.alerts?.heartbeat?.reveal()).toBe('https://hc.example.com/geheim/{connection}');
    expect(JSON.stringify(config)).not.toContain('geheim');
  });

  test('in the environment alone, secrets also from files', async () => {
    await writeFile(join(folder(), 'hook'), 'https://hooks.example.com/geheim\n');
    const { alerts } = await loadConfig({
      cwd: folder(),
      env: {
        ...minimal,
        SMTP_URL: 'smtp://mail',
        REMINDER_FROM: 'ops@example.com',
        ALERT_EMAIL: 'a@example.com, b@example.com',
        ALERT_WEBHOOK_FILE: join(folder(), 'hook'),
        ALERT_HEARTBEAT: 'http://127.0.0.1:9/beat',
      },
    });
    expect(alerts).toMatchObject({ email: ['a@example.com', 'b@example.com'], from: 'ops@example.com' });
    expect(alerts?.webhook?.reveal()).toBe('https://hooks.example.com/geheim');
    expect(alerts?.heartbeat?.reveal()).toBe('http://127.0.0.1:9/beat');
  });

  test.each<[string, string, string, string]>([
    [
      'not encrypted',
      'webhook: "http://hooks.example.com/geheim"',
      'alerts.webhook',
      'must begin with https://',
    ],
    [
      'a password',
      'webhook: "https://u:geheim@hooks.example.com/"',
      'alerts.webhook',
      'a user name or a password',
    ],
    ['no address', 'heartbeat: geheim', 'alerts.heartbeat', 'must be an absolute address'],
    [
      'the name as a host',
      'heartbeat: "https://{connection}.example.com/geheim"',
      'alerts.heartbeat',
      'in the path',
    ],
    [
      'what is derived',
      'email: [a@example.com], noSuccessFor: 5m',
      'alerts.noSuccessFor',
      'is no longer a setting',
    ],
    ['no address of a person', 'email: [anna]', 'alerts.email[0]', 'one e-mail address'],
  ])('%s is a mistake that shows no secret', async (_name, settings, path, message) => {
    const mistakes = await mistakesOf(connection(`alerts: { ${settings} }`));
    expect(mistakes).toMatchObject([{ path, message: expect.stringContaining(message) }]);
  });

  test('without a sender of reminders they come from their first recipient', async () => {
    const content = connection('alerts: { email: [ops@example.com] }');
    const withServer = { env: { ...env, SMTP_URL: 'smtp://mail' } };
    expect((await load(content, withServer)).alerts?.from).toBe('ops@example.com');
    expect((await load(content, { env: { ...env, REMINDER_FROM: 'a@example.com' } })).alerts?.from).toBe(
      'a@example.com',
    );
    expect(
      await mistakesOf(connection('alerts: { email: [a@example.com], from: b@example.com }')),
    ).toMatchObject([{ path: 'alerts.from', message: expect.stringContaining('is no longer a setting') }]);
  });
});
