import { spawn, spawnSync } from 'node:child_process';

type Promtool = (
  args: readonly string[],
  stdin?: string,
) => Promise<{ readonly code: number | null; readonly output: string }>;

const isThere = spawnSync('promtool', ['--version']).status === 0;

/** Runs Prometheus' own judge of rules and metrics; null where it is not installed (Debian: package prometheus). */
export const promtool: Promtool | null = isThere
  ? (args, stdin = '') =>
      new Promise((resolve, reject) => {
        const child = spawn('promtool', [...args]);
        let output = '';
        const add = (text: Buffer): void => {
          output += text.toString();
        };
        child.stdout.on('data', add);
        child.stderr.on('data', add);
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, output }));
        child.stdin.end(stdin);
      })
  : null;
