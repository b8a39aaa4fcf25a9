import { z } from 'zod';
import { fieldKinds } from '../core/lead/field-kinds.ts';
import { defaultFields } from '../core/lead/mapping.ts';
import type { LeadFields, SandboxLead } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';

export type WriteBody =
  | { readonly ok: true; readonly fields: Partial<LeadFields> }
  | { readonly ok: false; readonly status: number; readonly message: string };

const text = z
  .string()
  .nullable()
  .transform((value) => value ?? '');
const instant = z.iso
  .datetime({ offset: true, error: 'not an ISO 8601 timestamp' })
  .transform((value) => new Date(value).toISOString())
  .nullable();

const knownFields = Object.fromEntries(
  defaultFields.map(({ field, type }) => [
    field,
    (fieldKinds[type].isMoment ? instant : text).exactOptional(),
  ]),
);
const plainSchema = z.object(knownFields);
const extraSchema = z.looseObject({
  ...knownFields,
  ownerEmail: text.exactOptional(),
  employees: z.number().int().nullable().exactOptional(),
});

/** Of POST (`before` undefined) or PATCH. No JSON object: 400; a value not accepted: `invalidStatus`; fields it does not know are left out. */
export function readWriteBody(
  body: string,
  before: SandboxLead | undefined,
  options: SandboxBehaviour,
): WriteBody {
  const object = parseObject(body);
  if (object === null) return { ok: false, status: 400, message: 'The body is not a JSON object.' };
  const schema = options.extraFields ? extraSchema : plainSchema;
  const parsed = schema.safeParse(object);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(options, `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'not accepted'}`);
  }
  const fields = storedForm(parsed.data, before, options);
  const problem = findProblem(fields, before, options);
  return problem === null ? { ok: true, fields } : refused(options, problem);
}

function refused(options: SandboxBehaviour, message: string): WriteBody {
  return { ok: false, status: options.invalidStatus, message };
}

function parseObject(body: string): object | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function storedForm(
  given: Partial<LeadFields>,
  before: SandboxLead | undefined,
  options: SandboxBehaviour,
): Partial<LeadFields> {
  const entries = Object.entries(given)
    .filter(([field]) => field !== 'id' && !options.ignoredFields.includes(field))
    .map(
      ([field, value]) =>
        [field, options.trimText && typeof value === 'string' ? value.trim() : value] as const,
    );
  const fields: Partial<LeadFields> = Object.fromEntries(entries);
  const [firstStage] = options.stages ?? [];
  const needsStage = before === undefined && firstStage !== undefined && (fields.stage ?? '') === '';
  return needsStage ? { ...fields, stage: firstStage } : fields;
}

function findProblem(
  fields: Partial<LeadFields>,
  before: SandboxLead | undefined,
  options: SandboxBehaviour,
): string | null {
  for (const field of options.requiredFields) {
    const value = fields[field];
    if (value === '' || value === null || (value === undefined && before === undefined)) {
      return `${field}: must not be empty`;
    }
  }
  const { stage, segment } = fields;
  if (stage !== undefined && options.stages?.includes(stage) === false) {
    return `stage: ${JSON.stringify(stage)} is not one of ${options.stages.join(', ')}`;
  }
  if (segment !== undefined && segment !== '' && options.segments?.includes(segment) === false) {
    return `segment: ${JSON.stringify(segment)} is not one of ${options.segments.join(', ')}`;
  }
  return null;
}
