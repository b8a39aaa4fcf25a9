import { z } from 'zod';

const cursorSchema = z.object({ place: z.int().nonnegative(), expires: z.number() });

/** An opaque cursor for the page that begins at `place`; good until `expires` (epoch ms). */
export function writeCursor(place: number, expires: number): string {
  return Buffer.from(JSON.stringify({ place, expires })).toString('base64url');
}

/** The place, or null when the cursor is not one of ours or has expired. */
export function readCursor(cursor: string, nowMs: number): number | null {
  try {
    const parsed = cursorSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return parsed.expires > nowMs ? parsed.place : null;
  } catch {
    return null;
  }
}
