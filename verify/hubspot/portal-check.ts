import type { PortalScratch } from './portal-scratch.ts';

/** One thing that the stand-in or the adapter takes for granted. */
export interface PortalCheck {
  /** What is expected. */
  readonly title: string;
  /** Returns what was seen, for people. Throws Differs, Skipped, or whatever went wrong. */
  readonly run: (scratch: PortalScratch) => Promise<string>;
}
