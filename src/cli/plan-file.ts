import { existsSync, readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { type ConnectionConfig, targetName } from '../config/config.ts';
import { counted } from '../core/lead/wording.ts';
import { actionKinds } from '../core/merge/action.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { shortHash } from '../core/lead/content-hash.ts';
import { editedByHand } from '../store/approvals.ts';
import type { ApprovedLine, Run } from '../store/runs.ts';
import { settingsHashes } from '../sync/context.ts';
import { assertCanWrite, replaceFile } from './out-file.ts';
import { version } from '../lib/version.ts';
import { planJson, type ShownPlan } from './plan-output.ts';

/** Increase with changes that older versions would misread. */
const fileVersion = 1;

const runIdSchema = z.string().regex(/^\d{1,15}$/);
const cellSchema = z.string().nullable();
const lineSchema = z.object({
  id: z.string(),
  kind: z.enum(actionKinds),
  company: z.string().optional(),
  leadId: z.string().optional(),
  row: z.number().optional(),
  changes: z.record(z.string(), z.object({ from: cellSchema, to: cellSchema })),
  reason: z.string(),
  fingerprint: z.string(),
});
const fileSchema = z.object({
  format: z.literal('leadsync plan'),
  version: z.number(),
  leadsync: z.string(),
  connection: z.string(),
  planId: runIdSchema,
  undoOf: runIdSchema.optional(),
  service: z.string(),
  target: z.string(),
  settings: z.object({ leads: z.string(), target: z.string(), fields: z.string(), sync: z.string() }),
  actions: z.array(lineSchema),
});

export type PlanFile = z.infer<typeof fileSchema>;
type Line = z.infer<typeof lineSchema>;

/** One action per line, each with a hash of what the plan saw. */
export async function writePlanFile(
  path: string,
  { run, actions, companies }: Omit<ShownPlan, 'problems' | 'fields'>,
  connection: ConnectionConfig,
): Promise<void> {
  const plan = planJson({ run, actions, companies, problems: [] });
  const lines = plan.actions.map((line, index) => ({
    ...line,
    fingerprint: actions[index]?.fingerprint ?? '',
  }));
  const head = {
    format: 'leadsync plan',
    version: fileVersion,
    leadsync: version,
    connection: run.connection,
    planId: plan.planId,
    ...(run.undoOf !== null && { undoOf: String(run.undoOf) }),
    service: connection.leads.baseUrl,
    target: targetName(connection.target),
    settings: settingsHashes(connection),
    madeAt: new Date(run.createdAt).toISOString(),
    guard: plan.guard,
    ...(plan.forecast !== undefined && { forecast: plan.forecast }),
  };
  const keys = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  );
  const actionLines = lines.map((line) => `    ${JSON.stringify({ ...line, fingerprint: lineHash(line) })}`);
  const text = ['{', ...keys, `  "actions": [`, actionLines.join(',\n'), '  ]', '}', ''].join('\n');
  await replaceFile(path, text);
}

/** The fingerprint with a checksum of the line, so that edits by hand are detected. */
function lineHash({ fingerprint, ...line }: Line | (Omit<Line, 'kind'> & { readonly kind: string })): string {
  return `${fingerprint}.${shortHash(JSON.stringify([fingerprint, line])).slice(0, 8)}`;
}

/** Throws `usage.plan-out` when no file can be written there, `usage.plan-out-exists` when it exists and is no plan. */
export function refuseToOverwrite(path: string): void {
  assertCanWrite(path);
  if (!existsSync(path)) return;
  try {
    readPlanFile(path);
  } catch (cause) {
    throw new LeadsyncError('usage.plan-out-exists', `${path} exists and is not a plan; it was not touched`, {
      help: 'Name another file with --out.',
      cause,
    });
  }
}

/** Throws `usage.plan-unreadable` when the file is missing or no plan, `usage.plan-version` when it is another version's. */
export function readPlanFile(path: string): PlanFile {
  let json: unknown;
  try {
    // A device or pipe may never end.
    if (!statSync(path).isFile()) throw new Error('it is not a regular file');
    json = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refused('unreadable', `${path} cannot be read as a plan: ${reason}`, cause);
  }
  const head = z.object({ version: z.unknown(), leadsync: z.unknown() }).safeParse(json).data;
  if (head && (head.version !== fileVersion || head.leadsync !== version)) {
    throw refused(
      'version',
      `${path} was written by leadsync ${String(head.leadsync)} (format ${String(head.version)}); this is ${version} (format ${fileVersion})`,
    );
  }
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refused(
    'unreadable',
    `${path} is not a plan: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
    parsed.error,
  );
}

const settingNames = {
  leads: 'another service or leads.query',
  target: 'another target (path, sheet, columns or time zone)',
  fields: 'other fields (mapping or direction)',
  sync: 'other rules (sync: direction, conflicts, deletions, limits)',
} as const;

/** Throws `usage.plan-settings`, or `usage.plan-edited` when the file names another service or target than it was made for. */
export function assertSameSettings(file: PlanFile, connection: ConnectionConfig): void {
  const now = settingsHashes(connection);
  const other = (['leads', 'target', 'fields', 'sync'] as const).filter(
    (part) => file.settings[part] !== now[part],
  );
  if (other.length > 0) {
    const names = other.map((part) => settingNames[part]).join(', ');
    throw refused('settings', `the plan ${file.planId} of ${file.connection} was made for ${names}`);
  }
  if (file.service !== connection.leads.baseUrl) throw changedByHand('service', connection.leads.baseUrl);
  const target = targetName(connection.target);
  if (file.target !== target) throw changedByHand('target', target);
}

/**
 * Throws `usage.plan-unknown` unless `run` made the plan, and `usage.plan-too-old` when runs of its age are pruned: which lines were carried
 * out is then unknown.
 */
export function assertOnRecord(file: PlanFile, run: Run | null, retentionDays: number): void {
  if (run === null || run.mode !== 'plan' || run.connection !== file.connection) {
    throw refused(
      'unknown',
      `the plan ${file.planId} of ${file.connection} is not on record: it was made with another database, or its run was pruned`,
    );
  }
  if (Date.now() - run.createdAt >= retentionDays * 24 * 3_600_000)
    throw refused(
      'too-old',
      `the plan ${file.planId} is older than the ${counted(retentionDays, 'day')} of sync.retention`,
    );
  const undoOf = run.undoOf === null ? undefined : String(run.undoOf);
  if (file.undoOf !== undoOf) throw changedByHand('undoOf', undoOf ?? 'none');
}

function changedByHand(key: string, made: string): LeadsyncError {
  return refused('edited', `${key} was changed by hand in the file: the plan was made for ${made}`);
}

/** `only` selects some by id. Throws `usage.plan-line` for an unknown or held id, `usage.plan-doubled` for a duplicate. */
export function approvedLines(file: PlanFile, only: readonly string[] | null): readonly ApprovedLine[] {
  const ids = new Set<string>();
  for (const { id } of file.actions) {
    if (ids.has(id)) throw refused('doubled', `plan ${file.planId} has two lines ${id}`);
    ids.add(id);
  }
  const idle = (line: Line): boolean => line.kind === 'hold' || line.kind === 'report';
  for (const id of only ?? []) {
    const line = file.actions.find((one) => one.id === id);
    if (line === undefined) throw refused('line', `line ${id} is not in plan ${file.planId}`);
    if (idle(line)) throw refused('line', `line ${id} is held and cannot be carried out: ${line.reason}`);
  }
  return file.actions
    .filter((line) => !idle(line) && (only === null || only.includes(line.id)))
    .map((line) => ({
      id: line.id,
      kind: line.kind,
      leadId: line.leadId ?? null,
      row: line.row ?? null,
      fingerprint: unsealed(line),
    }));
}

function unsealed(line: Line): string {
  const [fingerprint = ''] = line.fingerprint.split('.');
  return lineHash({ ...line, fingerprint }) === line.fingerprint ? fingerprint : editedByHand;
}

function refused(what: string, message: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(`usage.plan-${what}`, `${message}. Nothing was carried out`, {
    help: 'leadsync plan --out FILE makes a new plan.',
    cause,
  });
}
