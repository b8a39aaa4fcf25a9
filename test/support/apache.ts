import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mail-server.ts';
import { until } from './until.ts';

const modules = '/usr/lib/apache2/modules';

export const davPassword = 'd4v-pw';

export interface Apache extends AsyncDisposable {
  readonly origin: string;
  /**
   * The folder that it serves: at `/dav/` to anna (bert may only read), at `/open/` to everybody, at `/untagged/` without
   * ETags, at `/readonly/` for reading, as web pages at `/paged/`, at an empty one at `/plain/` without WebDAV; `/moved/` leads to another host, `/login/` to a page.
   */
  readonly folder: string;
}

/** A real WebDAV server, gone with its folder when it is disposed. `more`: further lines of its configuration. */
export async function startApache(more = ''): Promise<Apache> {
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), 'leadsync-apache-'));
  // Its workers are another user's.
  await chmod(home, 0o755);
  const folder = join(home, 'files');
  for (const name of ['files', 'locks', 'run', 'plain']) {
    mkdirSync(join(home, name));
    await chmod(join(home, name), 0o777);
  }
  const encode = (text: string): string => `{SHA}${createHash('sha1').update(text).digest('base64')}`;
  await writeFile(
    join(home, 'users'),
    ['anna', 'bert'].map((user) => `${user}:${encode(davPassword)}\n`).join(''),
  );
  const needed = [
    'mpm_event',
    'authn_core',
    'authn_file',
    'authz_core',
    'authz_user',
    'auth_basic',
    'alias',
    'dav',
    'dav_fs',
    'dir',
    'mime',
    'ssl',
    'socache_shmcb',
    'headers',
    'deflate',
    'filter',
  ];
  await writeFile(
    join(home, 'conf'),
    `${needed.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
ServerRoot ${home}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${home}/run/pid
DefaultRuntimeDir ${home}/run
ErrorLog ${home}/error.log
LogLevel error
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadsPerChild 25
MaxRequestWorkers 25
DocumentRoot ${folder}
DavLockDB ${home}/locks/db
<Directory ${folder}>
  Dav On
</Directory>
Alias /dav ${folder}
Alias /open ${folder}
Alias /untagged ${folder}
Alias /readonly ${folder}
Alias /paged ${folder}
Alias /plain ${home}/plain
Redirect 302 /moved/ https://files.example.com/
RedirectMatch 302 ^/login/ /open/login.html
AddType text/html .html
TypesConfig /dev/null
<Location /dav>
  AuthType Basic
  AuthName leadsync
  AuthUserFile ${home}/users
  <LimitExcept GET HEAD OPTIONS PROPFIND>
    Require user anna
  </LimitExcept>
  <Limit GET HEAD OPTIONS PROPFIND>
    Require valid-user
  </Limit>
</Location>
<Location /open>
  Require all granted
</Location>
<Location /untagged>
  FileETag None
  Header unset ETag
</Location>
<Location /paged>
  ForceType text/html
</Location>
<Location /readonly>
  <LimitExcept GET HEAD OPTIONS PROPFIND>
    Require all denied
  </LimitExcept>
</Location>
${more}
`,
  );
  const child: ChildProcess = spawn('apache2', ['-f', join(home, 'conf'), '-D', 'FOREGROUND'], {
    stdio: 'ignore',
  });
  const origin = `http://127.0.0.1:${port}`;
  await until('Apache answers', () =>
    fetch(`${origin}/open/`).then(
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
      await rm(home, { recursive: true, force: true });
    },
  };
}
