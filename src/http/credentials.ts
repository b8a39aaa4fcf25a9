import { Redactor } from '../lib/redact.ts';

/** Shorter passwords, or those of digits alone, stand in the data of a success by chance: it is data, and stays. */
const leastInData = 8;

/** Fields of a form that prove who asks (OAuth 2.0). */
const proofs = ['client_secret', 'client_assertion', 'assertion', 'subject_token', 'refresh_token'];

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface Credentials {
  without(text: string, isSuccess: boolean): string;
  withoutHeaders(headers: ReplyHeaders, isSuccess: boolean): ReplyHeaders;
}

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly secrets?: readonly string[];
}

export function credentialsOf(request: Sent): Credentials {
  const secrets = secretsOf(request);
  const ofFaults = new Redactor(secrets);
  const ofData = new Redactor(secrets.filter((one) => one.length >= leastInData && /\D/.test(one)));
  const without = (text: string, isSuccess: boolean): string => (isSuccess ? ofData : ofFaults).text(text);
  return {
    without,
    withoutHeaders: (headers, isSuccess) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          Array.isArray(value)
            ? value.map((one) => without(one, isSuccess))
            : value && without(value, isSuccess),
        ]),
      ),
  };
}

function secretsOf({ headers, body, secrets = [] }: Sent): readonly string[] {
  const [, scheme = '', sent = ''] = /^(\S+) (.*)$/.exec(headers['authorization'] ?? '') ?? [];
  return [
    ...secrets,
    sent,
    ...(/^basic$/i.test(scheme) ? [passwordIn(sent)] : []),
    ...(typeof body === 'string' ? proofsIn(body) : []),
  ];
}

export function proofsIn(body: string): readonly string[] {
  const form = new URLSearchParams(/^[\w.]+=/.test(body) ? body : '');
  return proofs.flatMap((name) => form.getAll(name));
}

function passwordIn(basic: string): string {
  return Buffer.from(basic, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
}

export function secretsOfAddress(address: string, of: 'path' | 'query'): readonly string[] {
  const { pathname, search, searchParams } = new URL(address);
  const query = [search, search.slice(1), ...searchParams.values()];
  const path = of === 'path' ? [pathname, pathname + search, ...pathname.split('/')] : [];
  return [...query, ...path].filter((part) => part.length >= leastInData);
}
