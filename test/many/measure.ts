import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

// Loaded into a leadsync process before anything else: at its end it tells how long its event loop stood still at most,
// and its peak memory.
const delay = monitorEventLoopDelay({ resolution: 20 });
delay.enable();
process.on('exit', () => {
  const blockMs = Math.round(delay.max / 1e6);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const path = join(process.env['FIGURES'] ?? '.', `${process.pid}.json`);
  writeFileSync(path, JSON.stringify({ blockMs, peakMb }));
});
