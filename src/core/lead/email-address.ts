/**
 * HTML's "valid e-mail address" (ASCII, no comments or quotes), with dots only where RFC 5321 section 4.1.2 allows
 * them, and a domain that may exist in public DNS, or this machine.
 */
const address =
  /^(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:localhost|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+)$/i;

/** Whether a text is exactly one e-mail address, without a name and without blanks around it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
}
