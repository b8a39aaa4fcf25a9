import type { LeadsyncErrorOptions, Retry } from '../lib/errors.ts';

/** `retry`: a number is later, after that many ms. */
export type FaultRow = readonly [code: string, says: string, help?: string | null, retry?: Retry | number];

/** A row for some statuses (`'404 410'`), for all others of a class (`'5xx'`), or for what is left; fixed, or made of the reply. */
export type FaultTable<Reply> = Readonly<Record<string, FaultRow | ((reply: Reply) => FaultRow)>> & {
  readonly other: FaultRow | ((reply: Reply) => FaultRow);
};

export function faultRow<Reply extends { readonly status: number }>(
  table: FaultTable<Reply>,
  reply: Reply,
): readonly [code: string, says: string, options: LeadsyncErrorOptions] {
  const key = [String(reply.status), `${Math.floor(reply.status / 100)}xx`].flatMap(
    (wanted) => Object.keys(table).find((keys) => keys.split(' ').includes(wanted)) ?? [],
  );
  const row = table[key[0] ?? 'other'] ?? table.other;
  const [code, says, help = null, retry = 'never'] = typeof row === 'function' ? row(reply) : row;
  return [code, says, { ...whenAgain(retry), ...(help !== null && { help }) }];
}

export function whenAgain(retry: Retry | number): LeadsyncErrorOptions {
  return typeof retry === 'number' ? { retry: 'later', retryAfterMs: retry } : { retry };
}
