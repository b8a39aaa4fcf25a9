import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatKind, chatChannel, chatKindOf, chatKinds } from '../../src/config/chat-webhook.ts';
import { replyOf } from '../../src/http/connection.ts';
import { Secret } from '../../src/config/secret.ts';
import { replyFault } from '../../src/reminders/chat/post-message.ts';
import { chats, cutForChat } from '../../src/reminders/chat/payload.ts';
import { composeDigestMessage } from '../../src/reminders/compose/compose-digest.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';
import { payloadFault } from '../stand-ins/chat/payload-fault.ts';

test.each<[string, ChatKind]>([
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://hooks.slack.com/triggers/T0/1/x', 'slack'],
  ['https://discord.com/api/webhooks/123/x', 'discord'],
  ['https://canary.discord.com/api/v10/webhooks/123/x', 'discord'],
  ['https://discordapp.com/api/webhooks/123/x', 'discord'],
  ['https://discord.com/api/webhooks/123/x/slack', 'slack'],
  ['https://acme.webhook.office.com/webhookb2/x/IncomingWebhook/y/z', 'teams'],
  ['https://prod-01.westeurope.logic.azure.com:443/workflows/x?sig=y', 'teams'],
  ['https://x.1.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/y', 'teams'],
  ['https://prod-01.usgovtexas.logic.azure.us:443/workflows/x/triggers/manual/paths/invoke?sig=y', 'teams'],
  ['https://proxy.example.com/workflows/x/triggers/manual/paths/invoke', 'teams'],
  ['https://outlook.office.com/webhook/x/IncomingWebhook/y/z', 'teams'],
  ['https://hooks.slack.com.evil.example/services/x', 'slack'],
  ['https://chat.example.com/hooks/x', 'slack'],
])('%s is a webhook of %s', (address, kind) => expect(chatKindOf(address)).toBe(kind));

test('a channel is known by a key without its address', () => {
  const channel = chatChannel(new Secret('https://hooks.slack.com/services/T0/B0/geheim'));
  expect(channel.recipient).toMatch(/^slack:[0-9a-f]{8}$/);
  expect(JSON.stringify(channel)).not.toContain('geheim');
  expect(channel.host).toBe('hooks.slack.com');
});

/** Markdown with a dot for each escaped character, which begins nothing but still stands there. */
const shownOf = (text: string) => text.replaceAll(/\\./gs, '·');

describe('a value is read as it is', () => {
  test.each<[ChatKind, string, string]>([
    ['slack', '<!channel> & Söhne', '&lt;!channel&gt; &amp; Söhne'],
    ['slack', '@here, anna@example.com', '@\u200Bhere, anna@example.com'],
    ['discord', '@everyone **Foo** <@1>', String.raw`\@everyone \*\*Foo\*\* \<\@1\>`],
    ['discord', ':smile: a_b `c` ||d||', String.raw`\:smile\: a\_b \`c\` \|\|d\|\|`],
    // On phones Teams shows a backslash before anything but * _ [ ].
    ['teams', '[Foo](https://evil.example)', String.raw`\[Foo\](https://evil.example)`],
    ['teams', '20:27 CET (Europe/Berlin), a-b+c #1 @d > 5', '20:27 CET (Europe/Berlin), a-b+c #1 @d > 5'],
    [
      'teams',
      String.raw`*a* _b_ <https://c.example> ~~d~~`,
      String.raw`\*a\* \_b\_ <` + '\u200Bhttps://c.example> ~\u200B~\u200Bd~\u200B~\u200B',
    ],
    ['teams', '# 1', '\u200B# 1'],
    ['teams', '1. Kontakt', '\u200B1. Kontakt'],
    ['teams', '- a', '\u200B- a'],
  ])('%s: %s', (kind, value, shown) => expect(chats[kind].escape(value)).toBe(shown));

  test.each<[ChatKind, string]>([
    ['slack', '<https://a.example/x%7Cy?a=1&amp;b=2|&lt;Foo¦&gt;>'],
    ['discord', String.raw`[\<Foo\|\>](https://a.example/x|y?a=1&b=2)`],
  ])('a link in %s ends where its address ends', (kind, link) =>
    expect(chats[kind].link('https://a.example/x|y?a=1&b=2', '<Foo|>')).toBe(link),
  );

  test('nothing of a value mentions, links or ends a link', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.webUrl(), (value, url) => {
        expect(chats.slack.escape(value)).not.toMatch(/[<>]|(?<![\w.+-])@\w/);
        expect(shownOf(chats.discord.escape(value))).not.toMatch(/[`*_~|[\]()<>#@]/);
        expect(shownOf(chats.teams.escape(value))).not.toMatch(/[`*_[\]]|~~|<\w|^[#+>-]|^\d+[.)]/);
        expect(chats.slack.link(url, value)).toMatch(/^<[^<>|]+\|[^<>|]*>$/);
        expect(shownOf(chats.teams.link(url, value))).toMatch(/^\[[^[\]]*\]\([^()\s]+\)$/);
      }),
    );
  });
});

test('every text becomes a message that the vendor takes', () => {
  const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(lines, fc.constantFrom(...chatKinds), (texts, kind) => {
      const text = cutForChat(kind, `a${texts.join('\n')}`);
      expect(payloadFault(kind, 'application/json', JSON.stringify(chats[kind].payload(text)))).toBeNull();
      expect(chats[kind].fits(text)).toBe(true);
    }),
  );
});

test('Discord is told that nobody is mentioned', () =>
  expect(chats.discord.payload('@everyone')).toMatchObject({ allowed_mentions: { parse: [] } }));

test('a digest shows as much as the chat takes, and counts the rest', async () => {
  const opened = await openTemplates(null, (message) => expect.fail(message));
  const item = (n: number) => ({
    connection: 'main',
    fields: [],
    leadId: String(n),
    cells: { companyName: `Company ${n} ${'x'.repeat(60)}` },
    dueAt: 0,
    day: null,
    dayZone: 'UTC',
    row: { target: 'leads.csv', number: n },
    leadUrl: 'https://app.example.com/leads/{id}',
  });
  const overdue = Array.from({ length: 50 }, (_, n) => item(n));
  for (const kind of chatKinds) {
    const text = composeDigestMessage(
      {
        feedUrl: null,
        waiting: Array.from({ length: 61 }, (_, n) => `Waiting ${n}`),
        decideUrl: null,
        overdue,
        today: [],
        week: [],
        counts: { overdue: 321, today: 0, week: 0 },
        recipient: 'slack:1',
        timeZone: 'UTC',
        now: 86_400_000 * 3,
        templates: opened.in('en'),
      },
      kind,
    );
    // Each kind has its own markup, whichever was used before.
    expect(text).toContain(
      kind === 'slack' ? '<https://app.example.com/leads/0|' : '](https://app.example.com/leads/0)',
    );
    const shown = text?.match(/Company \d+/g)?.length ?? 0;
    expect(text).toContain('321');
    expect(text).toContain(`and ${321 - shown} more`);
    expect(shown).toBeGreaterThan(5);
    expect(text?.split('\n').slice(-2)).toEqual(['• Waiting 4', '• +56']);
  }
});

describe('what a reply means', () => {
  const fault = (kind: ChatKind, status: number, body = '', headers = {}) => {
    const channel = chatChannel(new Secret('https://chat.example.com/geheim'));
    return replyFault({ ...channel, kind }, replyOf({ status, headers, receivedAt: 0 }, body));
  };

  test.each<[ChatKind, number, string, string | null]>([
    ['slack', 200, 'ok', null],
    ['discord', 204, '', null],
    ['slack', 200, '{"ok":true}', null],
    ['slack', 200, '{"ok":false,"error":"x"}', 'chat.refused never'],
    ['slack', 200, '{"success":false}', 'chat.refused never'],
    ['teams', 202, '', null],
    ['teams', 200, '1', null],
    ['slack', 400, 'invalid_payload', 'chat.refused never'],
    ['slack', 403, 'action_prohibited', 'chat.channel-gone later'],
    ['slack', 404, 'no_service', 'chat.channel-gone later'],
    ['slack', 410, 'channel_is_archived', 'chat.channel-gone later'],
    ['slack', 302, '', 'chat.channel-gone later'],
    ['slack', 500, 'rollup_error', 'chat.unavailable later'],
    ['discord', 401, '', 'chat.channel-gone later'],
    ['teams', 413, '', 'chat.refused never'],
    ['teams', 504, '', 'chat.outcome-unknown later'],
    ['teams', 200, 'Microsoft Teams endpoint returned HTTP error 413 with ContextId', 'chat.refused never'],
  ])('%s, %i %s', (kind, status, body, meaning) => {
    const found = fault(kind, status, body);
    expect(found && `${found.code} ${found.retry}`).toBe(meaning);
    expect(found?.message ?? '').not.toContain('geheim');
  });

  test.each<[ChatKind, number, string, object, number]>([
    ['slack', 429, 'rate_limited', { 'retry-after': '30' }, 30_000],
    ['discord', 429, '{"retry_after": 64.57}', { 'retry-after': '65' }, 65_000],
    ['discord', 429, '{"retry_after": 1.5}', {}, 1_500],
    ['teams', 200, 'endpoint returned HTTP error 429', {}, 30_000],
    ['slack', 429, '', { 'retry-after': '999999' }, 86_400_000],
  ])('%s, %i %s asks for a wait', (kind, status, body, headers, waitMs) =>
    expect(fault(kind, status, body, headers)).toMatchObject({ code: 'chat.limited', retryAfterMs: waitMs }),
  );
});
