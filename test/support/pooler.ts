import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import pg from 'pg';

/**
 * What stands between: `transaction` deals out the sessions anew with each transaction, `session` keeps one for each
 * client, `settings-dropped` is the same without what clients ask for when they begin, `settings-refused` turns those away.
 */
export type PoolerKind = 'transaction' | 'session' | 'settings-dropped' | 'settings-refused';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const authenticated = message('R', Buffer.alloc(4));
/** A number of its own, as poolers tell it. */
const backendKey = message('K', Buffer.from([0x7f, 1, 2, 3, 1, 2, 3, 4]));
const ready = message('Z', Buffer.from('I'));
const refusal = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0'),
);

/** A pooler before the Postgres at `url`, which speaks no more of the protocol than it needs. */
export async function startPooler(
  url: string,
  kind: PoolerKind,
): Promise<AsyncDisposable & { readonly url: string }> {
  const idle: Session[] = [];
  const all: Session[] = [];
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    let session: Session | null = null;
    let taking: Promise<Session> | null = null;
    const giveBack = (): void => {
      if (session === null) return;
      session.receive = () => {};
      idle.push(session);
      [session, taking] = [null, null];
    };
    const take = async (): Promise<Session> => {
      const taken = (kind === 'transaction' ? idle.pop() : undefined) ?? (await Session.open(url, kind));
      if (!all.includes(taken)) all.push(taken);
      taken.receive = (data, isFree) => {
        client.write(data);
        if (isFree && kind === 'transaction') giveBack();
      };
      session = taken;
      return taken;
    };
    client.once('data', () => {
      if (kind === 'settings-refused') return void client.end(refusal);
      client.write(Buffer.concat([authenticated, backendKey, ready]));
      client.on('data', (data) => {
        taking ??= take();
        taking.then(
          (taken) => taken.socket.write(data),
          () => client.destroy(),
        );
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(url);
  const bound = server.address();
  address.port = String(typeof bound === 'object' && bound !== null ? bound.port : 0);
  return {
    url: address.href,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      for (const { socket } of all) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A session of Postgres, as bytes. */
class Session {
  readonly socket: Socket;
  /** `isFree`: no transaction is open after it. */
  receive: (data: Buffer, isFree: boolean) => void = () => {};
  #unread: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.removeAllListeners('data').on('data', (data: Buffer) => this.receive(data, this.#endsFree(data)));
  }

  static async open(url: string, kind: PoolerKind): Promise<Session> {
    const options = '-c search_path=leadsync -c idle_in_transaction_session_timeout=60000';
    const client = new pg.Client({ connectionString: url, ...(kind !== 'settings-dropped' && { options }) });
    client.on('error', () => {});
    await client.connect();
    const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } };
    return new Session(connection.stream);
  }

  #endsFree(data: Buffer): boolean {
    this.#unread = Buffer.concat([this.#unread, data]);
    let isFree = false;
    while (this.#unread.length >= 5) {
      const length = 1 + this.#unread.readUInt32BE(1);
      if (this.#unread.length < length) break;
      isFree = this.#unread.toString('latin1', 0, 1) === 'Z' && this.#unread.toString('latin1', 5, 6) === 'I';
      this.#unread = this.#unread.subarray(length);
    }
    return isFree;
  }
}
