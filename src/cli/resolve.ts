import { LeadsyncError } from '../errors.ts';
import { decideHeld, findHeld } from '../store/held.ts';
import { decidableSides } from './conflicts.ts';
import type { CommonOptions } from './main.ts';
import { print, printJson } from './output.ts';
import { withApp } from './with-app.ts';

export interface ResolveOptions extends CommonOptions {
  readonly use: 'lead' | 'target';
}

/** `leadsync resolve ID --use lead|target`: remembers the decision; the next sync carries it out. */
export function resolve(id: string, options: ResolveOptions): Promise<void> {
  return withApp(options, async (app) => {
    const held = /^\d{1,15}$/.test(id) ? await findHeld(app.pool, Number(id)) : null;
    if (held === null || !app.contexts.has(held.connection)) {
      throw new LeadsyncError('usage.unknown-conflict', `nothing with the id ${id} is held`, {
        help: 'leadsync conflicts lists what is held.',
      });
    }
    const mapping = app.contexts
      .get(held.connection)
      ?.connection.fields.find(({ field }) => field === held.field);
    const oneWay = options.use === 'target' && mapping?.direction === 'to-target';
    if (oneWay || !decidableSides(held).includes(options.use)) {
      throw new LeadsyncError(
        'usage.not-decidable',
        `the ${options.use}'s value cannot be chosen here: ${held.message} [${held.code}]`,
        {
          help: 'Nothing was changed. Change the row or the lead as the sentence says, then run leadsync sync.',
        },
      );
    }
    await decideHeld(app.pool, held.id, options.use);
    if (options.json)
      return printJson({ id, connection: held.connection, use: options.use, applies: 'next sync' });
    print(`${held.field} of ${held.leadId}: the ${options.use}'s value is kept.`);
    print(`Nothing has been written yet; leadsync sync --connection ${held.connection} carries it out.`);
  });
}
