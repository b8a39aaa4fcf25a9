import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mail-server.ts';
import { ready, sendCommand, type TestRedis } from './redis.ts';

/** A Sentinel that watches a master under the name `leads` and alone decides on a fail-over at once. */
export async function startSentinel(
  master: TestRedis,
): Promise<AsyncDisposable & Pick<TestRedis, 'port' | 'command'>> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-sentinel-'));
  const config = join(folder, 'sentinel.conf');
  await writeFile(
    config,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor leads 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds leads 300',
      'sentinel failover-timeout leads 1000',
      '',
    ].join('\n'),
  );
  const child = spawn('redis-server', [config, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(child);
  return {
    port,
    command: (...command) => sendCommand(port, command),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
