/** Codes that stand together on docs/problems.md; of each: what it means, and what to do. */
export interface Family {
  readonly title: string;
  readonly about: string;
  readonly codes: Readonly<Record<string, readonly [means: string, help: string]>>;
}

/** The advice that the page leaves out. */
export const nothing = 'Nothing to do.';
