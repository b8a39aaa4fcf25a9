import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** How the network behaves: as it should; taking everything and passing nothing on, in either direction; ending what comes. */
type Weather = 'fair' | 'silent' | 'reset';

/** A network between a worker and a server, which can be cut without either of them being told. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs: Set<readonly [Socket, Socket]>;
  readonly #weather: { now: Weather };
  /** How many connections came so far. */
  taken = 0;

  private constructor(server: Server, pairs: Set<readonly [Socket, Socket]>, weather: { now: Weather }) {
    this.#server = server;
    this.#pairs = pairs;
    this.#weather = weather;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', () => {
      this.taken += 1;
    });
  }

  /** A proxy on this machine before a port of this machine, or before a Unix socket. */
  static async open(server: number | string): Promise<TcpProxy> {
    const pairs = new Set<readonly [Socket, Socket]>();
    const weather: { now: Weather } = { now: 'fair' };
    const before = typeof server === 'string' ? { path: server } : { port: server, host: '127.0.0.1' };
    const proxy = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
      if (weather.now === 'reset') {
        near.resetAndDestroy();
        return;
      }
      const far = connect({ ...before, allowHalfOpen: true });
      const pair = [near, far] as const;
      pairs.add(pair);
      for (const [from, to] of [pair, [far, near]] as const) {
        from.setNoDelay(true);
        // Both ends are told what the other one did: an ordinary end, or a connection that broke.
        from.on('error', () => reset(to));
        from.on('close', () => {
          pairs.delete(pair);
          to.destroy();
        });
        from.on('data', (chunk) => {
          if (!to.write(chunk)) from.pause();
        });
        to.on('drain', () => {
          if (weather.now === 'fair') from.resume();
        });
        from.on('end', () => to.end());
      }
      if (weather.now === 'fair') near.resume();
      else far.pause();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return new TcpProxy(proxy, pairs, weather);
  }

  /** From now on every connection is open and still: what is sent waits without an error. */
  silence(): void {
    this.#weather.now = 'silent';
    for (const socket of this.#sockets()) socket.pause();
  }

  /** Ends all connections with a reset, and those that come, until it is fair again. */
  refuse(): void {
    this.#weather.now = 'reset';
    this.reset();
  }

  /** Ends the connections there are with a reset; new ones are taken as before. */
  reset(): void {
    for (const socket of this.#sockets()) reset(socket);
    this.#pairs.clear();
  }

  /** Passes on what has waited, and everything after it. */
  heal(): void {
    this.#weather.now = 'fair';
    for (const socket of this.#sockets()) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.reset();
    await closed;
  }

  #sockets(): Socket[] {
    return [...this.#pairs].flat();
  }
}

/** Unix sockets know no reset. */
function reset(socket: Socket): void {
  if (socket.remoteFamily === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
