// Known holes in what users install: what `npm run build` put into dist/. To npm all of it is for development alone. Ends with 1
// when one of them is high or critical. A registry that cannot tell is said, and is a failure with `--must-answer` alone.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const report = z.object({
  vulnerabilities: z.record(z.string(), z.object({ name: z.string(), severity: z.string() })).optional(),
  message: z.string().default('no reply'),
});
const bill = z.object({ components: z.array(z.object({ name: z.string() })) });

// npm ends with 1 for holes, and for a registry that cannot tell.
const said = await new Promise<string>((resolve) => {
  execFile('npm', ['audit', '--json'], { cwd: root, maxBuffer: 64 * 1024 ** 2 }, (_error, stdout) =>
    resolve(stdout),
  );
});
const { vulnerabilities, message } = report.parse(JSON.parse(said || '{}'));
const { components } = bill.parse(JSON.parse(await readFile(join(root, 'dist/leadsync.cdx.json'), 'utf8')));
const shipped = new Set(components.map(({ name }) => name));
if (vulnerabilities === undefined) {
  process.stdout.write(`not audited: the registry does not tell (${message})\n`);
  if (process.argv.includes('--must-answer')) process.exitCode = 1;
} else {
  const found = Object.values(vulnerabilities).filter(({ name }) => shipped.has(name));
  const names = found.map(({ name, severity }) => `${name} (${severity})`).join(', ');
  process.stdout.write(`known holes in ${shipped.size} packages: ${found.length} ${names}\n`);
  if (found.some(({ severity }) => ['high', 'critical'].includes(severity))) process.exitCode = 1;
}
