import { expect, test } from 'vitest';
import { Workspace } from '../support/workspace.ts';

const hooks = `import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, context); } });`;

/** What only some need costs all others time when it is loaded. */
test.each([
  ['status', ['pg'], ['bullmq', 'undici', 'nodemailer', 'liquidjs', 'pino']],
  [
    'plan',
    ['pg', 'bullmq', 'undici', 'csv-parse'],
    ['nodemailer', 'liquidjs', 'google-auth-library', 'ioredis'],
  ],
])(
  '%s loads what it needs, and nothing of OpenTelemetry and metrics without being asked',
  async (command, needed, unneeded) => {
    await using workspace = await Workspace.open();
    const { code, stderr } = await workspace.start([command], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` },
    }).ended;
    expect(code).toBe(0);
    const loaded = [...stderr.matchAll(/^loaded .*node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(
      ([, name]) => name,
    );
    expect(loaded).toEqual(expect.arrayContaining(needed));
    expect(loaded.filter((name = '') => unneeded.includes(name))).toEqual([]);
    expect(loaded.filter((name = '') => /opentelemetry|bullmq-otel|prom-client/.test(name))).toEqual([]);
  },
);
