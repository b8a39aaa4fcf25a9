/** What people should know after an undo, true under every setting. */
export const whatFollows = [
  'What is put back is an edit like any other: the next sync carries it to the other side, as far as the direction lets it.',
  'What a setting or a person had decided is open again: the next sync holds it, or decides it as the settings say.',
  'A row that is taken away is made again by the next sync as long as its lead is there. A row whose lead is taken away',
  'becomes a new lead again, unless it is deleted before that.',
].join('\n');
