import { decide, type Side } from '../sync/decide-held.ts';
import type { CommonOptions } from './main.ts';
import { print, printJson } from './output.ts';
import { userName } from './user-name.ts';
import { withStore } from './with-store.ts';

export interface ResolveOptions extends CommonOptions {
  readonly use: Side;
}

/** `leadsync resolve ID --use lead|target`: remembers the decision; the next sync carries it out. */
export function resolve(id: string, { use, ...options }: ResolveOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const fieldsOf = (name: string) => connections.find((one) => one.name === name)?.fields;
    const { connection, field, leadId } = await decide(pool, id, { use, by: userName() }, fieldsOf);
    if (options.json) return printJson({ id, connection, use, applies: 'next sync' });
    print(
      field === ''
        ? `A ${use === 'lead' ? `row is written for ${leadId}` : 'lead is made of the row'} again.`
        : `${field} of ${leadId}: the ${use}'s value is kept.`,
    );
    print(`Nothing has been written yet; leadsync sync --connection ${connection} carries it out.`);
  });
}
