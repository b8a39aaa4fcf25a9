import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mail-server.ts';
import { askOnce } from './status-site.ts';
import { until } from './until.ts';

/** A real nginx with some servers of one `location` line each (`location / { … }`), until it is disposed. */
export async function startNginx(
  locations: readonly string[],
): Promise<{ readonly ports: readonly number[] } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-nginx-'));
  const servers: { readonly port: number; readonly text: string }[] = [];
  for (const location of locations) {
    const port = await freePort();
    servers.push({ port, text: `server { listen 127.0.0.1:${port}; ${location} }` });
  }
  const conf = join(folder, 'nginx.conf');
  await writeFile(
    conf,
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
     http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
       fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
       ${servers.map(({ text }) => text).join('\n')} }`,
  );
  const nginx = spawn('/usr/sbin/nginx', ['-c', conf, '-e', join(folder, 'nginx.log')]);
  const ports = servers.map(({ port }) => port);
  await until('nginx listens', () =>
    askOnce(ports[0] ?? 0, '/').then(
      () => true,
      () => false,
    ),
  );
  return {
    ports,
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
