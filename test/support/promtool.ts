import { spawn } from 'node:child_process';

/** Runs Prometheus' own judge of rules and metrics. */
export function promtool(
  args: readonly string[],
  stdin = '',
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
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
  });
}
