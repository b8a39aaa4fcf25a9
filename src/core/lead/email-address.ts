/**
 * The form that browsers accept (HTML, section "valid e-mail address"): one address, ASCII, no comments or quotes; with the
 * dots where RFC 5321 has them (section 4.1.2), and a domain that may be in the world, or this machine.
 */
const address =
  /^(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:localhost|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+)$/i;

/** Whether a text is exactly one e-mail address, without a name and without blanks around it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
}
