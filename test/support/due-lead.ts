import { reminderScene } from './reminder-scene.ts';
import { Workspace } from './workspace.ts';

const plain = { from: 'Sales <sales@example.com>', to: ['anna@example.com'], timeZone: 'UTC' };
/** An instant n ms ago. */
export const due = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString();

/** A header of a mail as it arrived. */
export function header(source: string, name: string): string {
  const lines = new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(source)?.[1] ?? '';
  return lines.replaceAll(/\r\n[ \t]+/g, ' ');
}

/** The text of a mail, without its transfer encoding (all texts here are ASCII). */
export function body(source: string): string {
  return source.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
}

/** The calendar entry of a mail. */
export function calendarOf(source: string): string {
  const [, head = '', part = ''] = /text\/calendar([\s\S]*?)\r\n\r\n([\s\S]*?)\r\n--/.exec(source) ?? [];
  return head.includes('base64') ? Buffer.from(part, 'base64').toString() : part;
}

/** One lead that is due since `agoMs`, synced and planned, and a mail server at `port`. */
export async function dueLead(
  port: number,
  { agoMs = 1_000, reminders = {}, lead = {} }: { agoMs?: number; reminders?: object; lead?: object } = {},
) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: { reminders: { ...plain, ...reminders } },
      env: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    }),
  );
  const { id: leadId } = workspace.sandbox.leads.add({
    companyName: 'Due AG',
    stage: 'new',
    nextFollowUpAt: due(agoMs),
    ...lead,
  });
  await workspace.sync();
  const scene = stack.use(await reminderScene(workspace));
  const [reminder] = await scene.plan();
  if (reminder === undefined) throw new Error('nothing was planned');
  const owned = stack.move();
  return {
    ...scene,
    workspace,
    leadId,
    id: reminder.id,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
