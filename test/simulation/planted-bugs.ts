import type { Format } from './customs.ts';

/** A mistake that the simulation must find: `from` stands exactly once in the file. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Of the tables in which it can be found. */
  readonly format?: Format;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'pause: a row that is paused is read like any other',
    file: 'src/core/merge/live-scan.ts',
    from: `    if (row.paused === true) {`,
    to: `    if (row.paused === null) {`,
  },
  {
    name: 'merge: the policies are swapped',
    file: 'src/core/merge/merge-field.ts',
    from: `      return toRow('leads-win');
    case 'target-wins':
      return toLead('target-wins');`,
    to: `      return toLead('target-wins');
    case 'target-wins':
      return toRow('leads-win');`,
  },
  {
    name: 'commit: the baseline of a lead moves before the PATCH was confirmed',
    file: 'src/sync/update-lead.ts',
    from: `  const { lead: after, isWhole } = await patch(context, action, body, refused, pushing);`,
    to: `  const { moveBaselines } = await import('../store/baselines.ts');
  await moveBaselines(context.pool, context.connection.name, [
    { to: 'agreed', leadId, values: Object.fromEntries(open.map(([field, { to }]) => [field, to as never])) },
  ]);
  const { lead: after, isWhole } = await patch(context, action, body, refused, pushing);`,
  },
  {
    name: 'commit: the baseline of rows moves before the write was confirmed',
    file: 'src/sync/push-rows.ts',
    from: `    begin: (db, actions) => recordBegun(db, actions),`,
    to: `    async begin(db, actions) {
      await recordBegun(db, actions);
      const { moveBaselines } = await import('../store/baselines.ts');
      const { writtenCells } = await import('../store/actions.ts');
      const { readable } = await import('../core/lead/value.ts');
      await moveBaselines(
        db,
        run.connection,
        actions
          .filter(({ kind }) => kind === 'update-row' || kind === 'create-row')
          .map((action) => ({ to: 'agreed' as const, leadId: action.leadId ?? '', values: readable(writtenCells(action.changes)) })),
      );
    },`,
  },
  {
    name: 'intent journal: the intent is committed after the POST',
    file: 'src/sync/create-lead.ts',
    from: `    reply = await context.leads.create(content, context.cut, begin);
  } catch (error) {`,
    to: `    reply = await context.leads.create(content, context.cut);
    await begin();
  } catch (error) {
    await begin();`,
  },
  {
    name: 'lease: not asserted',
    file: 'src/store/leases.ts',
    from: `      lost.signal.throwIfAborted();
      const { rowCount }`,
    to: `      if (leaseMs > 0) return;
      const { rowCount }`,
  },
  {
    name: 'absence: a torn scan counts',
    file: 'src/sync/make-plan.ts',
    from: `leads: scanWeight(context, run) === 1`,
    to: `leads: scanWeight(context, run) > 0`,
  },
  {
    name: 'absence: a filtered scan counts',
    file: 'src/sync/make-plan.ts',
    from: `if (isFiltered(context) || run.pulled === 0) return 0;`,
    to: `if (run.pulled === 0) return 0;`,
  },
  {
    name: 'absence: one scan is enough',
    file: 'src/core/merge/policy.ts',
    from: `export const absencesThatProve = 2;`,
    to: `export const absencesThatProve = 1;`,
  },
  {
    name: 'deletion: done without a 404',
    file: 'src/sync/push-leads.ts',
    from: `  if (lead !== null) {`,
    to: `  if (lead !== null && context.connection.name === '') {`,
  },
  {
    name: 'expect: a row that changed is written all the same',
    file: 'src/targets/shared/row-changes.ts',
    from: `    if (!shows(row.cells, expect)) return this.#verdicts.changed;`,
    to: ``,
  },
  {
    name: 'expect: a lead that changed is written all the same',
    file: 'src/sync/update-lead.ts',
    from: `  if (drifted.length > 0) {`,
    to: `  if (drifted.length > 1_000) {`,
  },
  {
    name: 'expect: a file that changed is replaced all the same',
    file: 'src/targets/local/local-place.ts',
    from: `: original.isCurrent();`,
    to: `: true;`,
  },
  {
    name: 'holds: released by each run',
    file: 'src/store/conflicts.ts',
    from: `openActions(db, run, ['hold'])`,
    to: `openActions(db, run, [])`,
  },
  {
    name: 'history: what the loser of a policy typed is not kept',
    file: 'src/store/history.ts',
    from: `export async function recordHistory(`,
    to: `export async function recordHistory(): Promise<void> {}
async function notRecorded(`,
  },
  {
    name: 'status column: what it says is not corrected',
    file: 'src/sync/push-rows.ts',
    from: `if (text === null || sameCell(shown, text)) return null;`,
    to: `if (text === null || shown !== '') return null;`,
  },
  {
    name: 'creates: one scan proves that a lead was not made',
    file: 'src/core/merge/match-lost-creates.ts',
    from: `export const attemptOverAfter = 10_000;`,
    to: `export const attemptOverAfter = -10_000_000;`,
  },
  {
    name: 'Retry-After: not obeyed',
    file: 'src/leads-api/rate-limiter.ts',
    from: `      if (remaining > 0)`,
    to: `      if (remaining > 1e12)`,
  },
  {
    name: 'reminders: not cancelled',
    file: 'src/store/reminders.ts',
    from: `where m.connection = $1 and m.lead_id = l."leadId" and m.state = 'scheduled'`,
    to: `where false and m.connection = $1 and m.lead_id = l."leadId" and m.state = 'scheduled'`,
  },
  {
    name: 'merge: an edit does not beat a deletion',
    file: 'src/core/merge/plan.ts',
    from: `  const isEdited = !sameRecord(row.cells, base, policy);`,
    to: `  const isEdited = policy.fields.length > 1_000 && !sameRecord(row.cells, base, policy);`,
  },
  {
    name: 'direction: one way is taken for two-way',
    file: 'src/core/merge/merge-field.ts',
    from: `  if (sameCell(lead, base)) return direction === 'to-target' ? toRow('one-way') : toLead('row-edited');`,
    to: `  if (sameCell(lead, base)) return toLead('row-edited');`,
  },
  {
    name: 'Google Sheets: what landed in other rows is not put back',
    file: 'src/targets/google-sheets/unsettled-write.ts',
    from: `[...cellsToPutBack(missed, alignment, all), ...again]`,
    to: `[...cellsToPutBack([], alignment, all), ...again]`,
    format: 'google-sheets',
  },
  {
    name: 'Google Sheets: nobody looks where a write arrived',
    file: 'src/targets/google-sheets/unsettled-write.ts',
    from: `if (sent.length === 0) return nothingSettled;`,
    to: `if (sent.length >= 0) return nothingSettled;`,
    format: 'google-sheets',
  },
  {
    name: 'Google Sheets: a write whose reply was lost is not looked at',
    file: 'src/targets/google-sheets/google-sheets-target.ts',
    from: `    await this.#settleKept(signal);
    const seen`,
    to: `    const seen`,
    format: 'google-sheets',
  },
  {
    name: 'Google Sheets: new rows are put over what stands below the table',
    file: 'src/targets/google-sheets/write-plan.ts',
    from: `[{ insertDimension: { range, inheritFromBefore: !isFirst } },`,
    to: `[{ appendDimension: { sheetId, dimension: isFirst ? range.dimension : 'ROWS', length: rows.length } },`,
    format: 'google-sheets',
  },
  {
    name: 'WebDAV: an upload without If-Match',
    file: 'src/targets/webdav/webdav-file.ts',
    from: `: { 'if-match': tag };`,
    to: `: {};`,
    format: 'webdav',
  },
  {
    name: 'WebDAV: a rename without the ETag as its condition',
    file: 'src/targets/webdav/webdav-file.ts',
    from: `(tag === null ? '' : \`[\${tag}]\`)`,
    to: `(tag === null ? '' : '')`,
    format: 'webdav',
  },
  {
    name: 'Microsoft Graph: an upload without If-Match',
    file: 'src/targets/msgraph/graph-file.ts',
    from: `const headers = { 'if-match': item.eTag };`,
    to: `const headers = {};`,
    format: 'msgraph',
  },
];
