import type { z } from 'zod';
import { badRequest } from './api-fault.ts';

/** What came, in the shape that is expected. Throws ApiFault 400, for unknown members too. */
export function checkInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = schema.safeParse(input);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw badRequest(
    `Invalid input JSON at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`,
  );
}
