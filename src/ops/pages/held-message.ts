import type { Html } from './layout.ts';
import { foldedText } from './shown-value.ts';

/** Their messages tell both values once more. */
const briefly: Readonly<Record<string, string>> = {
  'conflict.both-edited': 'Edited on both sides, differently.',
  'conflict.first-sight': 'The two sides differed when they were compared for the first time.',
};

/** Why something is held, where both values stand beside it. */
export function heldMessage(code: string, message: string): Html | string {
  return briefly[code] ?? foldedText(message);
}
