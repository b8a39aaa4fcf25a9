import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { reminderFiles, to } from './config-reminders-scene.ts';

const { load, mistakesOf, folder } = reminderFiles();

describe('a chat channel', () => {
  const webhook = 'webhook: "https://hooks.slack.com/services/T0/B0/geheim"';

  test('gets reminders beside others, or alone; its address is a secret', async () => {
    for (const lines of [[webhook], [webhook, to]]) {
      const { connections } = await load(lines);
      const { chat, rules } = connections[0]?.reminders ?? {};
      expect(chat).toMatchObject({ kind: 'slack', host: 'hooks.slack.com', recipient: rules?.channel });
      expect(chat?.url.reveal()).toContain('geheim');
      expect(rules?.to).toHaveLength(lines.length - 1);
      expect(JSON.stringify(connections)).not.toContain('geheim');
    }
  });

  test('stands in the environment, or in a file', async () => {
    const file = join(folder(), 'hook');
    await writeFile(file, 'https://discord.com/api/webhooks/1/geheim\n');
    const env = {
      LEADS_BASE_URL: 'https://x',
      LEADS_API_KEY: 'k',
      TARGET: 'a.csv',
      REMINDER_WEBHOOK_FILE: file,
    };
    const { connections } = await loadConfig({ env, cwd: folder() });
    expect(connections[0]?.reminders?.chat).toMatchObject({ kind: 'discord' });
  });

  test.each([
    ['nobody at all', ['digest: "08:00"'], 'name the recipients, or a chat channel'],
    [
      'the form of Slack at Discord',
      ['webhook: "https://discord.com/api/webhooks/1/geheim/slack"'],
      'without /slack',
    ],
    ['not encrypted', ['webhook: "http://hooks.slack.com/geheim"'], 'must begin with https://'],
  ])('mistake: %s', async (_, lines, said) => {
    const found = JSON.stringify(await mistakesOf(lines));
    expect(found).toContain(said);
    expect(found).not.toContain('geheim');
  });
});
