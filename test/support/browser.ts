import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

/** A headless Chromium that looks for nothing outside of this machine. */
export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...quiet, ...more] });
}
