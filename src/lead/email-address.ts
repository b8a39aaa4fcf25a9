/** The form that browsers accept (HTML, section "valid e-mail address"): one address, ASCII, no comments or quotes. */
const address =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** Whether a text is exactly one e-mail address, without a name and without blanks around it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
}
