import type { SandboxLead } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';

/** What the service answers. `body` null: none. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export function emptyReply(status: number, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: null };
}

export function jsonReply(status: number, value: unknown): Reply {
  if (status === 204) return emptyReply(status);
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

/** An error in the shape the options ask for; the shape is an open point of the API reference, section 7. */
export function errorReply(
  options: Pick<SandboxBehaviour, 'errorShape'>,
  status: number,
  code: string,
  message: string,
): Reply {
  switch (options.errorShape) {
    case 'flat':
      return jsonReply(status, { code, message });
    case 'nested':
      return jsonReply(status, { error: { code, message } });
    case 'array':
      return jsonReply(status, { errors: [{ code, message }] });
    case 'text':
      return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: message };
    case 'empty':
      return emptyReply(status);
  }
}

/** A lead as the service shows it: a JSON object whose key order is that of the API reference, section 2. */
export function showLead(
  lead: SandboxLead,
  options: Pick<SandboxBehaviour, 'nullFollowUp' | 'followUpFormat' | 'extraFields'>,
): Record<string, unknown> {
  const { id, companyName, segment, city, region, stage, nextFollowUpAt, ownerEmail, employees, ...others } =
    lead;
  const followUp = showInstant(nextFollowUpAt, options.followUpFormat);
  return {
    id,
    companyName,
    segment,
    city,
    region,
    stage,
    ...(followUp === null && options.nullFollowUp === 'absent' ? {} : { nextFollowUpAt: followUp }),
    ...(options.extraFields ? { ownerEmail, employees } : {}),
    ...others,
  };
}

/** Text that is no instant is shown as it is: only direct access to the table can put it there. */
function showInstant(instant: string | null, format: SandboxBehaviour['followUpFormat']): string | null {
  if (instant === null) return null;
  const epochMs = Date.parse(instant);
  if (Number.isNaN(epochMs)) return instant;
  const text = new Date(epochMs).toISOString();
  return format === 'millis' ? text : text.replace(/\.\d+Z$/, 'Z');
}
