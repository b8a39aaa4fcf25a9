import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };
const locked = Object.entries(packages).filter(([path]) => path !== '');

test('what is installed has a hash, but for builds of other systems, and comes from the registry', () => {
  for (const [path, { resolved, integrity, optional }] of locked) {
    // Without an address it is that of the registry which npm is set to.
    expect([path, resolved]).toEqual([path, undefined]);
    if (integrity === undefined) expect([path, optional]).toEqual([path, true]);
  }
});

test('no script runs at installation that nobody has decided on', () => {
  const withScript = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = withScript.map(([path]) => path.split('node_modules/').at(-1) ?? '');
  expect(new Set(names)).toEqual(new Set(Object.keys(allowScripts)));
});
