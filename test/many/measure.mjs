// Loaded into a leadsync process before anything else: at its end it tells how long its event loop stood still at most, and its peak memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 20 });
delay.enable();
process.on('exit', () => {
  const figures = {
    blockMs: Math.round(delay.max / 1e6),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
  };
  writeFileSync(join(process.env['FIGURES'], `${process.pid}.json`), JSON.stringify(figures));
});
