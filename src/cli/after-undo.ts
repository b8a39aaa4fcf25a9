/** What people should know after an undo, true under every setting. */
export const whatFollows = [
  'What is put back is an edit like any other: the next sync carries it to the other side, as far as the direction lets it.',
  'What a setting or a person had decided is open again: the next sync holds it, or decides it as the settings say.',
  'A row or a lead that is taken away is not made again by itself: the lead without a row, or the row without a lead, is held',
  '(leadsync conflicts) until it changes, or until leadsync resolve ID has it made.',
].join('\n');
