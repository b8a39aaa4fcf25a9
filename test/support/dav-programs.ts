import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mail-server.ts';
import type { Program } from './programs.ts';
import { until } from './until.ts';

interface Setting {
  readonly home: string;
  readonly folder: string;
  readonly port: number;
}

/** The command line that starts it in the foreground. */
type Start = (setting: Setting) => readonly [string, ...string[]];

function withFile(path: string, content: string): string {
  writeFileSync(path, content);
  return path;
}

/** WebDAV servers that other people wrote: each serves its folder to everybody. Below php is sabre/dav. */
const davPrograms = {
  lighttpd: ({ home, folder, port }) => [
    'lighttpd',
    '-D',
    '-f',
    withFile(
      join(home, 'conf'),
      `server.modules = ("mod_webdav")
server.document-root = "${folder}"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${home}/error.log"
server.upload-dirs = ("${home}")
webdav.activate = "enable"
webdav.sqlite-db-name = "${home}/locks.db"
`,
    ),
  ],
  nginx: ({ home, folder, port }) => [
    'nginx',
    '-e',
    join(home, 'error.log'),
    '-c',
    withFile(
      join(home, 'conf'),
      `load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;
daemon off; pid ${home}/pid; worker_processes 1; user root;
events {}
http {
  client_body_temp_path ${home}/body; client_max_body_size 0; access_log off;
  dav_ext_lock_zone zone=locks:1m;
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    dav_methods PUT DELETE MKCOL COPY MOVE;
    dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
    dav_ext_lock zone=locks;
  }
}
`,
    ),
  ],
  rclone: ({ folder, port }) => [
    'rclone',
    'serve',
    'webdav',
    folder,
    '--addr',
    `127.0.0.1:${port}`,
    '--config',
    '/dev/null',
    ...(process.env['RCLONE_MORE'] ?? '').split(' ').filter(Boolean),
  ],
  php: ({ home, folder, port }) => [
    'php',
    '-d',
    'error_reporting=0',
    '-S',
    `127.0.0.1:${port}`,
    withFile(
      join(home, 'server.php'),
      `<?php
require '/usr/share/php/Sabre/autoload.php';
$server = new Sabre\\DAV\\Server(new Sabre\\DAV\\FS\\Directory('${folder}'));
$server->setBaseUri('/');
$server->addPlugin(new Sabre\\DAV\\Locks\\Plugin(new Sabre\\DAV\\Locks\\Backend\\File('${home}/locks')));
$server->exec();
`,
    ),
  ],
} as const satisfies Partial<Record<Program, Start>>;

export type DavProgram = keyof typeof davPrograms;

export const davProgramNames = Object.keys(davPrograms) as DavProgram[];

export interface RunningProgram extends AsyncDisposable {
  readonly origin: string;
  readonly folder: string;
}

/** A server with an empty folder, gone with it when it is disposed. */
export async function startProgram(name: DavProgram): Promise<RunningProgram> {
  const home = mkdtempSync(join(tmpdir(), `leadsync-${name}-`));
  const folder = join(home, 'files');
  mkdirSync(folder);
  chmodSync(home, 0o777);
  chmodSync(folder, 0o777);
  const port = await freePort();
  const [command, ...args] = davPrograms[name]({ home, folder, port });
  const child: ChildProcess = spawn(command, args, { stdio: 'ignore' });
  const origin = `http://127.0.0.1:${port}`;
  await until(`${name} answers`, () =>
    fetch(`${origin}/`).then(
      () => true,
      () => false,
    ),
  );
  return {
    origin,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
