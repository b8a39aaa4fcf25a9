#!/usr/bin/env node
// The sources run as they are on Node 24; under an older Node the one from node_modules is used instead.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const node24 = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
// Half a second of each start is compiling. A folder of our own: in a shared one, others could put code for us to run.
const compiled = fileURLToPath(new URL('../node_modules/.cache/leadsync-compiled', import.meta.url));

// A long-running command would take several times the memory that it uses, so V8's heap grows by half at a time. V8 takes flags
// only when it starts; sizes that the user has set are kept.
const sparing = ['--max-semi-space-size=4', '--heap-growing-percent=50'];
const worksLong = ['sync', 'plan', 'apply', 'undo', 'worker'].includes(process.argv[2] ?? '');
// oxlint-disable-next-line node/no-process-env -- read by Node, not by us
const isSized = /[-_]space[-_]size|[-_]growing[-_]/.test(`${process.execArgv} ${process.env.NODE_OPTIONS}`);
const flags = worksLong && !isSized ? sparing : [];

const major = Number(process.versions.node.split('.')[0]);
if (major >= 24) {
  // Another version may not know the flags; a channel to who started us would be lost.
  const isAlone = !process.connected && process.permission === undefined && process.platform !== 'win32';
  if (flags.length > 0 && major === 24 && isAlone) {
    const { execPath: node } = process;
    process.execve?.(node, [node, ...process.execArgv, ...flags, ...process.argv.slice(1)]);
  }
  nodeModule.enableCompileCache(compiled);
  await import(main);
} else if (existsSync(node24)) {
  // Loaded here alone: each command under Node 24 starts some ms earlier.
  const { spawn } = await import('node:child_process');
  // Through the channel the child notices our death, also by SIGKILL, which we cannot pass on.
  const child = spawn(node24, [...flags, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
} else {
  process.stderr.write(
    `leadsync needs Node 24 or newer; this is ${process.version}. Run "npm ci" first: it brings one.\n`,
  );
  process.exitCode = 2;
}
