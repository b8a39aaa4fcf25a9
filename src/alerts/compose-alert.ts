import type { Composed } from '../reminders/compose/compose-reminder.ts';
import { escaped, oneLine } from '../reminders/compose/shown-text.ts';
import type { AlertText } from './describe-alert.ts';

/** What a webhook is sent: the form that Slack takes. */
export function alertPayload(text: AlertText): { readonly text: string } {
  return { text: plainText(text) };
}

const maxMessage = 500;

/** The mail to an operator; `message` is a fault's own words, which go nowhere else. */
export function alertMail(text: AlertText, message: string | null): Composed {
  const reason = message === null ? '' : withoutAddresses(oneLine(message, maxMessage));
  const told = reason === '' ? text : { ...text, lines: [...text.lines, `Reason: ${reason}`] };
  return {
    subject: oneLine(`leadsync: ${text.title}`, 149),
    text: `${plainText(told)}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px">',
      `<h1 style="font-size:20px;line-height:26px">leadsync: ${escaped(told.title)}</h1>`,
      ...told.lines.map((line) => `<p>${escaped(line)}</p>`),
      ...(told.help.length === 0 ? [] : ['<ul>', ...told.help.map(helpItem), '</ul>']),
      '</body></html>',
    ].join('\n'),
  };
}

function plainText({ title, lines, help }: AlertText): string {
  return [`leadsync: ${title}`, ...lines, ...help.map(([command, does]) => `  ${command}  (${does})`)].join(
    '\n',
  );
}

function helpItem([command, does]: AlertText['help'][number]): string {
  return `<li><code>${escaped(command)}</code><br>${escaped(does)}</li>`;
}

/** A fault may repeat what a service said, and that a lead's address. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+/g, '(address)');
}
