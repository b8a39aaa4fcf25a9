import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mail-server.ts';
import { until } from './until.ts';

/** A real PgBouncer before the database at `url`, with more `settings` of its section `[pgbouncer]`. */
export async function startPgBouncer(
  url: string,
  settings: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const target = new URL(url);
  const quoted = (text: string): string => `'${decodeURIComponent(text).replaceAll("'", "''")}'`;
  const login = `user=${quoted(target.username)} password=${quoted(target.password)}`;
  const lines = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port} ${login}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, lines.join('\n'), { mode: 0o644 });
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', ['-q', ...user, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  target.port = String(port);
  await until('PgBouncer takes connections', async () => {
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  });
  return {
    url: target.href,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
