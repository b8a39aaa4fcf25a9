import { z } from 'zod';
import type { ChatKind } from '../../../src/config/chat-webhook.ts';

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks; longer texts are cut by Slack. */
const slack = z.object({
  text: z.string().min(1).max(40_000),
  unfurl_links: z.boolean().optional(),
  unfurl_media: z.boolean().optional(),
});

/** https://discord.com/developers/docs/resources/webhook#execute-webhook; characters, not UTF-16 units. */
const discord = z.object({
  content: z.string().refine((text) => text !== '' && Array.from(text).length <= 2_000),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }),
  flags: z.literal(4).optional(),
});

/** https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const teams = z.object({
  type: z.literal('message'),
  attachments: z
    .array(
      z.object({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.object({
          $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
          type: z.literal('AdaptiveCard'),
          version: z.string().regex(/^1\.[0-5]$/),
          body: z
            .array(
              z.object({
                type: z.literal('TextBlock'),
                text: z.string().min(1),
                wrap: z.boolean(),
                spacing: z.enum(['none', 'small', 'default', 'medium', 'large']),
              }),
            )
            .min(1),
        }),
      }),
    )
    .length(1),
});

const schemas = { slack, discord, teams };
const largestBytes = { slack: 200_000, discord: 200_000, teams: 28 * 1024 };

/** What a vendor answers to a payload that it does not take; null: it takes it. */
export function payloadFault(
  kind: ChatKind,
  contentType: string | undefined,
  body: string,
): { readonly status: number; readonly body: string; readonly why: string } | null {
  const refuse = (status: number, why: string) => ({ status, why, body: bodies[kind] });
  if (!contentType?.startsWith('application/json')) return refuse(400, `content type ${contentType}`);
  if (Buffer.byteLength(body) > largestBytes[kind]) return refuse(413, `${body.length} characters`);
  const { error } = schemas[kind].safeParse(JSON.parse(body));
  return error === undefined ? null : refuse(400, z.prettifyError(error));
}

const bodies = {
  slack: 'invalid_payload',
  discord: JSON.stringify({ message: 'Invalid Form Body', code: 50_035 }),
  teams: 'Bad payload received by generic incoming webhook.',
};
