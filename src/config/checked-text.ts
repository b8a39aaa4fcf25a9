import { z } from 'zod';
import { Secret } from './secret.ts';

/** Says what is wrong with a value and what is allowed, or null. Never repeats the value: it may be a secret. */
type Check<T> = (value: T) => string | null;

export function rule<T>(check: Check<T>): z.core.CheckFn<T> {
  return (context) => {
    const message = check(context.value);
    if (message !== null) context.issues.push({ code: 'custom', message, input: context.value });
  };
}

export function text(check: Check<string>) {
  return z.string().check(rule(check));
}

/** A header value: the Leads client could not send anything else. */
export function secretToken(meaning: string) {
  return text((value) =>
    /^[\x21-\x7e]+$/.test(value)
      ? null
      : `must be ${meaning}: one line of visible ASCII characters, no blanks`,
  ).transform((value) => new Secret(value));
}

/** An address that holds a password. */
export function secretUrl(protocols: readonly string[], example: string) {
  const allowed = `must be an address such as ${example}; write characters such as # @ / % in the password as %23 %40 %2F %25`;
  return text((value) => {
    if (!URL.canParse(value)) return allowed;
    const { protocol, username, password } = new URL(value);
    return protocols.includes(protocol) && isDecodable(username) && isDecodable(password) ? null : allowed;
  }).transform((value) => new Secret(value));
}

export function postgresUrl() {
  return secretUrl(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/database');
}

/** A `%` that is followed by no two digits of a byte, for example, is not. */
function isDecodable(text_: string): boolean {
  try {
    decodeURIComponent(text_);
    return true;
  } catch {
    return false;
  }
}
