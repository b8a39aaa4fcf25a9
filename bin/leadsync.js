#!/usr/bin/env node
// In a clone the sources run as they are, on Node 24: under an older Node the one from node_modules is used instead.
// In the npm package there are no sources, since Node strips no types there: dist/ runs, made by `npm run build`.
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

// Not imported, which would load all that it has.
const { existsSync } = nodeModule.createRequire(import.meta.url)('node:fs');
const pathOf = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const sources = pathOf('src/cli/main.ts');
const isClone = existsSync(sources);
const node24 = pathOf('node_modules/node/bin/node');

// V8's young generation grows to 32 MB in a long-running command, which would take twice the memory that it uses. V8 takes
// flags only when it starts; sizes that the user has set are kept.
const sparing = ['--max-semi-space-size=4'];
const worksLong = ['sync', 'plan', 'apply', 'undo', 'worker'].includes(process.argv[2] ?? '');
// oxlint-disable-next-line node/no-process-env -- read by Node, not by us
const isSized = /[-_]space[-_]size|[-_]growing[-_]/.test(`${process.execArgv} ${process.env.NODE_OPTIONS}`);
const flags = worksLong && !isSized ? sparing : [];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isRecent = isClone ? major >= 24 : major > 22 || (major === 22 && minor >= 19);
if (isRecent) {
  // Another version may not know the flags; a channel to who started us would be lost.
  const isAlone = !process.connected && process.permission === undefined && process.platform !== 'win32';
  if (flags.length > 0 && major === 24 && isAlone) {
    const { execPath: node } = process;
    process.execve?.(node, [node, ...process.execArgv, ...flags, ...process.argv.slice(1)]);
  }
  // Half a second of each start is compiling. A folder of our own: in a shared one, others could put code for us to run.
  nodeModule.enableCompileCache(pathOf('node_modules/.cache/leadsync-compiled'));
  await import(isClone ? sources : pathOf('dist/main.js'));
} else if (isClone && existsSync(node24)) {
  // Loaded here alone: each command under Node 24 starts some ms earlier.
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  // Through the channel the child notices our death, also by SIGKILL, which we cannot pass on.
  const child = spawn(node24, [...flags, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A signal ends a child that does not listen yet.
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
} else {
  const wanted = isClone ? 'Node 24 or newer; run "npm ci" first: it brings one' : 'Node 22.19 or newer';
  process.stderr.write(`leadsync needs ${wanted}. This is ${process.version}.\n`);
  process.exitCode = 2;
}
