/**
 * Whether a minute of the day (0 to 1439) lies in the quiet hours: `from` does, `to` does not, and `from` may be later
 * than `to` (over midnight).
 */
export function isQuiet(
  minute: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}
