import { requestEdit } from '../../../src/review/request-edit.ts';
import { transaction } from '../../../src/store/database.ts';
import { findEdit, type NewEdit, type RequestedEdit } from '../../../src/store/requested-edits.ts';
import { type ConnectionSettings, Workspace } from '../../support/workspace.ts';
import { defaultFields, type FieldMapping } from '../../../src/core/lead/mapping.ts';

export const monday = '2031-03-03T08:00:00.000Z';
export const tuesday = '2031-03-04T08:00:00.000Z';
export const friday = '2031-03-07T08:00:00.000Z';

/** Two leads in step, both due on Monday; edits are requested for the first one. */
export async function editScene(connection: ConnectionSettings = {}, leads = 2) {
  const workspace = await Workspace.open({ connection });
  for (let nth = 1; nth <= leads; nth++)
    workspace.sandbox.leads.add({ companyName: `Lead ${nth}`, stage: 'new', nextFollowUpAt: monday });
  await workspace.sync();
  const { pool } = workspace.database;
  const ids = workspace.sandbox.leads.list().map(({ id }) => id);
  const [leadId = ''] = ids;
  const usual: NewEdit = {
    leadId,
    field: 'nextFollowUpAt',
    from: monday,
    to: tuesday,
    source: 'link',
    requestedBy: 'anna@example.com',
  };
  const request = (edit: Partial<NewEdit> = {}, fields: readonly FieldMapping[] = defaultFields) =>
    transaction(pool, (db) => requestEdit(db, { name: 'main', fields }, { ...usual, ...edit }));
  return Object.assign(workspace, {
    ids,
    leadId,
    request,
    /** All edits, and the run that carries them out. */
    carryOut: async (...edits: readonly Partial<NewEdit>[]) => {
      for (const edit of edits) await request(edit);
      return workspace.sync({ mode: 'edit' });
    },
    edits: async (): Promise<readonly RequestedEdit[]> => {
      const { rows } = await pool.query<{ id: number }>(
        `select id from held where kind = 'edit' order by id`,
      );
      const found = await Promise.all(rows.map(({ id }) => findEdit(pool, id)));
      return found.filter((one) => one !== null);
    },
    due: () => workspace.sandbox.leads.list().find(({ id }) => id === leadId)?.['nextFollowUpAt'],
    rowDue: () => {
      const shown = workspace.sheet.rows().find((row) => row['Lead ID'] === leadId)?.['Next follow-up'] ?? '';
      return shown === '' ? null : new Date(shown).toISOString();
    },
  });
}
