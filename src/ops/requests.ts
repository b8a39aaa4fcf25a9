import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';

/** A path for logs: without the secret that the address of a follow-up's page or of a calendar feed is. */
export function shownPath(path: string): string {
  return path.replace(/^(\/(?:follow-up|calendar)\/).+/, '$1:token');
}

/** A position in a list, as an address has it; anything else means its start. */
export const position = z.coerce.number().int().nonnegative().catch(0);

/** The first `size` items of a list of which one more was read. `next`: the address of the following page. */
export function pageOf<Item extends { readonly id: number }>(
  read: readonly Item[],
  size: number,
  address: (after: number) => string,
) {
  const items = read.slice(0, size);
  const last = items.at(-1);
  return { items, next: read.length > size && last !== undefined ? address(last.id) : null };
}

/** The fields of a form; `all`: a field may come several times. Throws a reply with status 400. */
export async function formOf<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  all = false,
): Promise<z.output<Schema>> {
  const form = schema.safeParse(await c.req.parseBody({ all }));
  if (!form.success) throw new HTTPException(400, { message: 'the form was not understood\n' });
  return form.data;
}
