import { writeFileSync } from 'node:fs';

/** Loaded before a program that is measured: at its end it tells what it used, in the file that BENCH_USAGE names. */
// oxlint-disable-next-line node/no-process-env -- it goes with every program
const path = process.env['BENCH_USAGE'];
if (path !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, peakKb: maxRSS };
    writeFileSync(path, JSON.stringify(usage));
  });
}
