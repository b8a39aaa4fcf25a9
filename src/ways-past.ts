/**
 * What lets a person go on after a refusal of the guard that has several ways out: the options of `leadsync sync`, and what
 * they do.
 */
export const waysPast: Readonly<Record<string, readonly (readonly [option: string, does: string])[]>> = {
  'older-copy': [
    [
      '--older-copy update',
      'brings the table forward: those cells get the newer values, missing rows come back, and what was typed into the copy is carried over',
    ],
    ['--allow older-copy', 'takes what the table shows as edits, when it was put back on purpose'],
  ],
  'older-service': [
    [
      '--older-copy update',
      'brings the service forward: those fields get the newer values, the sync after it makes missing leads again, and what was edited since is carried over',
    ],
    ['--allow older-service', 'takes what the service shows as edits, when it was put back on purpose'],
  ],
};
