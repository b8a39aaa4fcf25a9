/** The form that browsers accept (HTML, section "valid e-mail address"): one address, ASCII, no comments or quotes. */
const address =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** A display name that needs no encoding decision from us: quoted or plain, without line breaks and separators. */
// oxlint-disable-next-line no-control-regex -- a control character in a header is what must not pass
const named = /^(?:"[^"\\<>\x00-\x1f\x7f]+"|[^"\\<>,;:@\x00-\x1f\x7f]+?)\s*<([^<>]+)>$/;

/** What is wrong with a recipient, or null. */
export function recipientMistake(text: string): string | null {
  return isAddress(text) ? null : 'must be one e-mail address such as anna@example.com';
}

/** What is wrong with a sender, or null. */
export function senderMistake(text: string): string | null {
  const inner = named.exec(text)?.[1];
  if (isAddress(inner ?? text)) return null;
  return 'must be one e-mail address such as sales@example.com or Sales <sales@example.com>';
}

function isAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
}
