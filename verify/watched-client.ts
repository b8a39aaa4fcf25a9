import type { Authorized } from '../src/targets/google-sheets/google-account.ts';

/** A client that waits for `before` each time it is about to write. */
export function watched({ client, token }: Authorized, before: () => Promise<void>): Authorized {
  const request: Authorized['client']['request'] = async (options) => {
    if (options.method === 'POST') await before();
    return client.request(options);
  };
  const proxy = new Proxy(client, {
    get: (real, name) => {
      if (name === 'request') return request;
      const value: unknown = Reflect.get(real, name, real);
      return typeof value === 'function' ? (value.bind(real) as unknown) : value;
    },
  });
  return { client: proxy, token };
}
