#!/usr/bin/env node
// The sources run as they are on Node 24; under an older Node the one from node_modules is used instead.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const node24 = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
// Half a second of each start is compiling. A folder of ours: whoever could write into a shared one could have us run code.
const compiled = fileURLToPath(new URL('../node_modules/.cache/leadsync-compiled', import.meta.url));

if (Number(process.versions.node.split('.')[0]) >= 24) {
  nodeModule.enableCompileCache(compiled);
  await import(main);
} else if (existsSync(node24)) {
  // The channel lets the child die with us even when we are killed by SIGKILL and can pass nothing on.
  const child = spawn(node24, process.argv.slice(1), {
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
