import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where groups with a limit are made, and what their file is called: cgroup v2, else v1. */
const kinds = [
  { root: '/sys/fs/cgroup', has: 'cgroup.controllers', most: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', has: 'memory.limit_in_bytes', most: 'memory.limit_in_bytes' },
];

/** Whether this user may make a group here, and move processes into it. */
export function canLimitMemory(): boolean {
  try {
    using limit = new MemoryLimit(1024 ** 3);
    const [file = '', ...args] = limit.before;
    return spawnSync(file, [...args, 'true']).status === 0;
  } catch {
    return false;
  }
}

/** A group of processes that together may take so much memory (bytes), as a container has it. */
export class MemoryLimit implements Disposable {
  readonly #folder: string;

  constructor(bytes: number) {
    const kind = kinds.find(({ root, has }) => existsSync(join(root, has)));
    if (kind === undefined) throw new Error('this machine has no control groups');
    this.#folder = join(kind.root, `leadsync-test-${process.pid}-${Math.random()}`);
    mkdirSync(this.#folder);
    writeFileSync(join(this.#folder, kind.most), String(bytes));
  }

  /** Begins a command that is to run within it. */
  get before(): readonly string[] {
    return ['sh', '-c', 'echo $$ >"$0"/cgroup.procs && exec "$@"', this.#folder];
  }

  [Symbol.dispose](): void {
    rmdirSync(this.#folder);
  }
}
