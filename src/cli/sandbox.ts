import { once } from 'node:events';
import { counted } from '../core/lead/wording.ts';
import { parseFaults } from '../demo/faults.ts';
import { parseRate } from '../demo/rate-limit.ts';
import { startSandbox } from '../demo/sandbox.ts';
import type { CommonOptions } from './with-store.ts';
import { print, printJson, wholeNumber } from './output.ts';
import { untilStopped } from './stop.ts';

interface SandboxCommandOptions extends CommonOptions {
  readonly leads: string;
  readonly faults?: string;
  readonly rate?: string;
  readonly port?: string;
}

export async function sandbox(options: SandboxCommandOptions): Promise<void> {
  const stop = untilStopped();
  const leads = wholeNumber('--leads', options.leads, 0, 1_000_000);
  const port = wholeNumber('--port', options.port ?? '0', 0, 65_535);
  const faults = options.faults === undefined ? [] : parseFaults(options.faults);
  const rate = options.rate === undefined ? undefined : parseRate(options.rate);
  await using service = await startSandbox({ leads, port, faults, rate });
  if (options.json) {
    printJson({ baseUrl: service.url, apiKey: service.apiKey, leads });
  } else {
    print(`A local Leads service with ${leads} made-up leads listens on ${service.url}\n`);
    print(
      `  export LEADS_BASE_URL=${service.url}\n  export LEADS_API_KEY=${service.apiKey}\n  export TARGET=./leads.xlsx\n`,
    );
    print(
      'Then, in another terminal: npx leadsync plan, npx leadsync sync. Ctrl-C stops it; its leads are in memory only.',
    );
  }
  if (!stop.aborted) await once(stop, 'abort');
  const { requests, throttled, early, faults: faulty } = service.stats;
  process.stderr.write(
    `${counted(requests, 'request')}, ${throttled} answered 429, ${early} too early, ${counted(faulty, 'fault')}\n`,
  );
}
