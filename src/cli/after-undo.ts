/** What follows an undo under any setting. */
export const whatFollows = [
  'Each restored value is an edit: the next sync carries it to the other side, if the direction allows.',
  'Decided conflicts are open again: the next sync holds them, or decides them by the settings.',
  'A removed row or lead is not made again by itself: its lead or row is held',
  '(leadsync conflicts) until it changes, or until you run leadsync resolve ID.',
].join('\n');
