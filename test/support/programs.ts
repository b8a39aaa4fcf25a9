import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { canLimitMemory } from './memory-limit.ts';

declare module 'vitest' {
  interface TestTags {
    program: Program;
  }
}

interface Brought {
  /** Debian packages. */
  readonly by: string;
  /** What it takes besides an executable of that name on the PATH. */
  readonly works?: () => boolean;
  /** Part of that which no package brings. */
  readonly and?: string;
}

/** Begins a command that is to run without the rights of root. */
export const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;

/**
 * What some tests need and npm does not bring. A test or suite says so as its tag, `{ tags: 'redis-server' }`, and is left out where
 * that is missing; the end of `npm test` tells how many were.
 */
const table = {
  apache2: { by: 'apache2', works: () => existsSync('/usr/lib/apache2/modules/mod_dav_fs.so') },
  bash: { by: 'bash' },
  cgroup: { by: 'Linux', works: canLimitMemory, and: 'root, who may make control groups' },
  chromium: { by: 'chromium' },
  fish: { by: 'fish' },
  lighttpd: {
    by: 'lighttpd lighttpd-mod-webdav',
    works: () => existsSync('/usr/lib/lighttpd/mod_webdav.so'),
  },
  mount: {
    by: 'mount util-linux',
    works: () => succeeds('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'),
    and: 'root, who may mount',
  },
  nginx: {
    by: 'nginx libnginx-mod-http-dav-ext',
    works: () => existsSync('/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'),
  },
  node: { by: 'nodejs', works: () => findOldNode() !== null, and: 'of version 20 to 23' },
  openssl: { by: 'openssl' },
  pgbouncer: { by: 'pgbouncer' },
  php: { by: 'php-cli php-sabre-dav', works: () => existsSync('/usr/share/php/Sabre/DAV/Server.php') },
  promtool: { by: 'prometheus' },
  python3: { by: 'python3-openpyxl', works: () => succeeds('/usr/bin/python3', '-c', 'import openpyxl') },
  radicale: { by: 'radicale' },
  rclone: { by: 'rclone' },
  'redis-server': { by: 'redis-server' },
  script: { by: 'bsdutils', works: () => process.platform === 'linux' },
  setpriv: {
    by: 'util-linux',
    works: () =>
      succeeds(...asNobody, 'test', '-r', import.meta.filename) &&
      succeeds(...asNobody, process.execPath, '--version'),
    and: 'root, in a clone that others can read',
  },
  soffice: { by: 'libreoffice-calc-nogui' },
  ssconvert: { by: 'gnumeric' },
  unshare: {
    by: 'util-linux',
    works: () => succeeds('unshare', '--user', '--map-user=65534', 'true'),
    and: 'root, who may make user namespaces',
  },
  zsh: { by: 'zsh' },
} as const satisfies Record<string, Brought>;

export type Program = keyof typeof table;

export const programs: Readonly<Record<Program, Brought>> = table;
export const programNames = Object.keys(table) as Program[];

export function isInstalled(name: Program): boolean {
  const { works = () => true } = programs[name];
  // Control groups are part of Linux: there is no program of that name.
  return (name === 'cgroup' || pathsOf(name).length > 0) && works();
}

/** A Node of the machine that is too old to run the sources; null: there is none. */
export function findOldNode(): string | null {
  const ours = join('node_modules', '.bin');
  const isOld = (path: string): boolean => {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' });
    const major = Number(/^v(\d+)\./.exec(version)?.[1]);
    return major >= 20 && major < 24;
  };
  return pathsOf('node').find((path) => !path.includes(ours) && isOld(path)) ?? null;
}

function pathsOf(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).filter(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function succeeds(file: string, ...args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
