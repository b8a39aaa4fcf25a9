import { isEmailAddress } from '../core/lead/email-address.ts';

/** A display name that needs no encoding decision from us: quoted or plain, without line breaks and separators. */
// oxlint-disable-next-line no-control-regex -- a control character in a header is what must not pass
const named = /^(?:"[^"\\<>\x00-\x1f\x7f]+"|[^"\\<>,;:@\x00-\x1f\x7f]+?)\s*<([^<>]+)>$/;

/** What is wrong with a recipient, or null. */
export function recipientMistake(text: string): string | null {
  return isEmailAddress(text) ? null : 'must be one e-mail address such as anna@example.com';
}

/** What is wrong with a sender, or null. */
export function senderMistake(text: string): string | null {
  const inner = named.exec(text)?.[1];
  if (isEmailAddress(inner ?? text)) return null;
  return 'must be one e-mail address such as sales@example.com or Sales <sales@example.com>';
}
