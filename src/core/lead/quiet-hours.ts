/**
 * Whether a minute of the day (0 to 1439) is in the quiet hours: `from` inclusive, `to` exclusive; may span midnight.
 */
export function isQuiet(
  minute: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}
