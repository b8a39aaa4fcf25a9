import type { z } from 'zod';
import { offset, quietHours, timeOfDay } from '../../src/config/values.ts';

/** What is wrong with a text, by the schema of a setting; null when nothing is. */
export function mistakeOf(schema: z.ZodType): (text: string) => string | null {
  return (text) => schema.safeParse(text).error?.issues[0]?.message ?? null;
}

export const parseOffset = (text: string) => offset.parse(text);
export const parseQuietHours = (text: string) => quietHours.parse(text);
export const parseTimeOfDay = (text: string) => timeOfDay.parse(text);
