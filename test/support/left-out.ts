import type { Reporter, TestModule } from 'vitest/node';
import { isInstalled, programNames, programs } from './programs.ts';

/** Ends the output with the programs that are missing here, and how many tests were left out for the want of each. */
export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    const lines = programNames
      .filter((name) => !isInstalled(name))
      .map((name) => ({ name, tests: skipped.filter(({ tags }) => tags.includes(name)).length }))
      .filter(({ tests }) => tests > 0)
      .map(({ name, tests }) => {
        const { by, and } = programs[name];
        const brings = and === undefined ? by : `${by}; ${and}`;
        return `  ${name.padEnd(14)}${String(tests).padStart(4)}   ${brings}`;
      });
    if (lines.length === 0) return;
    console.log(
      ['Left out, for want of a program (tests, and the Debian packages that bring it):', ...lines, ''].join(
        '\n',
      ),
    );
  }
}
