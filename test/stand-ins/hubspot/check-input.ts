import type { z } from 'zod';
import { badRequest } from './api-fault.ts';

/** Parses a body. Throws ApiFault 400, also for unknown members. */
export function checkInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = schema.safeParse(input);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw badRequest(
    `Invalid input JSON at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`,
  );
}
