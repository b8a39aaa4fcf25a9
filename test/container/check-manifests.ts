// Holds deploy/kubernetes against the schemas that Kubernetes publishes, as the npm package kubernetes-models has them:
// tsc finds keys that do not exist by its types, its validators find values that are not allowed. Not part of `npm test`,
// since it installs 25 MB: npm run verify:kubernetes
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const manifest = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const folder = mkdtempSync(join(tmpdir(), 'leadsync-manifests-'));
const run = (program: string, ...args: string[]): void => {
  execFileSync(program, args, { cwd: folder, stdio: 'inherit' });
};

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', 'kubernetes-models@5.1.0');
  const files = globSync(join(root, 'deploy/kubernetes/!(kustomization).yaml'));
  const checks = files.map((file) => {
    const { apiVersion, kind, ...rest } = manifest.parse(parse(readFileSync(file, 'utf8')));
    const check = join(folder, `${basename(file, '.yaml')}.ts`);
    writeFileSync(
      check,
      `import { ${kind} } from 'kubernetes-models/${apiVersion}/${kind}';\nnew ${kind}(${JSON.stringify(rest, null, 2)}).validate();\n`,
    );
    return check;
  });
  run(join(root, 'node_modules/.bin/tsc'), '--noEmit', '--strict', '--module', 'nodenext', ...checks);
  for (const check of checks) run(process.execPath, check);
  process.stdout.write(`${files.length} manifests are as Kubernetes wants them\n`);
} finally {
  rmSync(folder, { recursive: true });
}
