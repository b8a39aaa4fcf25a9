/** A mistake in the planner that the audit must find: `from` stands exactly once in the file. */
export interface PlantedMistake {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const plan = 'src/core/merge/plan.ts';
const mergeField = 'src/core/merge/merge-field.ts';
const planner = 'src/core/merge/planner.ts';
const newRow = 'src/core/merge/plan-rows.ts';
const whole = 'test/laws/plan-run.ts';

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    name: 'a filtered run writes to no lead',
    file: whole,
    from: `  return { actions, seen, made`,
    to: `  if (state.filtered) return { actions: actions.filter(({ kind }) => kind !== 'update-lead'), seen, made, rowOf, loose, open, leadAbsences };
  return { actions, seen, made`,
  },
  {
    name: 'rows whose lead is outside the filter are not looked at',
    file: whole,
    from: `  for (const sight of sights) actions.push`,
    to: `  for (const sight of sights) if (!state.filtered || state.listed.has(sight.leadId)) actions.push`,
  },
  {
    name: 'the first field is skipped',
    file: plan,
    from: `  for (const mapping of policy.fields) {
    const { field } = mapping;
    const leadCell`,
    to: `  for (const mapping of policy.fields.slice(1)) {
    const { field } = mapping;
    const leadCell`,
  },
  {
    name: 'the baseline moves to the value of the lead, and no row is written',
    file: mergeField,
    from: `  if (sameCell(row, base)) return direction === 'to-leads' ? toLead('one-way') : toRow('lead-edited');`,
    to: `  if (sameCell(row, base)) return { kind: 'agree', value: lead };`,
  },
  {
    name: 'the baseline moves for an action that was put off',
    file: 'test/laws/carry-out.ts',
    from: `    if (outcome !== 'done' || leadId === null) return;
    if (kind`,
    to: `    if (leadId === null) return;
    if (kind`,
  },
  {
    name: 'two edits of one field are not held',
    file: mergeField,
    from: `  return hold('conflict.both-edited');`,
    to: `  return same;`,
  },
  {
    name: 'two values at first sight are not held',
    file: mergeField,
    from: `    case 'hold':
      return held;`,
    to: `    case 'hold':
      return same;`,
  },
  {
    name: 'a cell that cannot be read is no difference',
    file: mergeField,
    from: `    return hold(unreadCode('row', row));`,
    to: `    return same;`,
  },
  {
    name: 'a value that the service refused is forgotten',
    file: mergeField,
    from: `  if (state.memo?.refused) return hold('lead.field-refused');`,
    to: `  if (state.memo?.refused) return same;`,
  },
  {
    name: 'the edit of a row in a one-way field is not overwritten',
    file: mergeField,
    from: `direction === 'to-target' ? toRow('one-way') : toLead('row-edited')`,
    to: `direction === 'to-target' ? same : toLead('row-edited')`,
  },
  {
    name: 'each deletion of a row is ignored',
    file: plan,
    from: `    case 'restore':
      return restored();`,
    to: `    case 'restore':
      return [];`,
  },
  {
    name: 'a deleted row that is to be asked about is not held',
    file: plan,
    from: `  return [action('hold', state, { expect: lead, reason: deleteQuestions.row, message })];`,
    to: `  void message;
  return [];`,
  },
  {
    name: 'an edit that meets a deletion is not held',
    file: plan,
    from: `  if (isEdited) {`,
    to: `  if (isEdited) return [];
  if (isEdited) {`,
  },
  {
    name: 'a lead is said to be deleted, and its row is not marked',
    file: plan,
    from: `  return [action(kind, state, { expect: row.cells, reason: 'lead-deleted' })];`,
    to: `  return [];`,
  },
  {
    name: 'an unknown id is nobody’s',
    file: plan,
    from: `  if (row) return base === null ? [orphan(state, row)] :`,
    to: `  if (row) return base === null ? [] :`,
  },
  {
    name: 'a new lead with a value that cannot be read gets no row',
    file: plan,
    from: `  return [action('create-row', state, { changes, reason }), ...holds];`,
    to: `  return holds.length > 0 ? [] : [action('create-row', state, { changes, reason })];`,
  },
  {
    name: 'a new row without a name is passed over',
    file: newRow,
    from: `    return end('hold', 'row.company-name-empty', message);`,
    to: `    return [];`,
  },
  {
    name: 'a copied row is passed over',
    file: planner,
    from: `    if (leadId !== null) return [planDuplicateRow(leadId, row, mayBe)];`,
    to: `    if (leadId !== null) return [];`,
  },
  {
    name: 'in a torn scan leads that the list lacks are left as they are',
    file: whole,
    from: `  for (const sight of sights) actions.push`,
    to: `  for (const sight of sights) if (state.weight !== 0.5 || seen.has(sight.leadId)) actions.push`,
  },
  {
    name: 'a row that lost its id is found, and not given it back',
    file: 'src/core/merge/plan.ts',
    from: `  return [link, ...others];`,
    to: `  return others;`,
  },
];
