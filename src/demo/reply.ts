import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
import { emptyFields, type SandboxLead } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';

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

/** A lead as the service shows it: the keys in the order of the API reference, section 2. */
export function showLead(
  lead: SandboxLead,
  options: Pick<SandboxBehaviour, 'nullFollowUp' | 'followUpFormat' | 'extraFields'>,
): Record<string, unknown> {
  const { id, nextFollowUpAt, ownerEmail, employees, ...others } = lead;
  const followUp = showInstant(nextFollowUpAt, options.followUpFormat);
  const isAbsent = followUp === null && options.nullFollowUp === 'absent';
  return {
    id,
    ...emptyFields,
    ...others,
    nextFollowUpAt: isAbsent ? undefined : followUp,
    ...(options.extraFields ? { ownerEmail, employees } : {}),
  };
}

/** Text that is no instant is shown unchanged: only direct access to the table can store it. */
function showInstant(instant: string | null, format: SandboxBehaviour['followUpFormat']): string | null {
  if (instant === null) return null;
  const epochMs = Date.parse(instant);
  if (Number.isNaN(epochMs)) return instant;
  const text = new Date(epochMs).toISOString();
  return format === 'millis' ? text : text.replace(/\.\d+Z$/, 'Z');
}

/** What a proxy shows in place of the service. */
export const maintenancePage: Reply = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>',
};

const tenMegabytes = 10 * 1024 * 1024;

/** Sends a reply, spoilt by `fault` if that spoils replies. Returns the status that was sent; null: the client got none. */
export function sendReply(response: ServerResponse, reply: Reply, fault: Fault | undefined): number | null {
  switch (fault?.kind) {
    case 'lost-reply':
      response.destroy();
      return null;
    case 'unfinished':
      return sendHalf(response, reply);
    case 'not-json':
      response.writeHead(maintenancePage.status, maintenancePage.headers);
      response.end(maintenancePage.body);
      return maintenancePage.status;
    case 'huge':
      // Without a length, so that it can only be noticed while reading.
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.write(Buffer.alloc(tenMegabytes, 'x'));
      response.end();
      return 200;
    default:
      response.writeHead(reply.status, { ...reply.headers, ...lengthOf(reply) });
      response.end(reply.body ?? undefined);
      return reply.status;
  }
}

function lengthOf(reply: Reply): Record<string, string> {
  if (reply.body === null) return reply.status === 204 ? {} : { 'content-length': '0' };
  return { 'content-length': String(Buffer.byteLength(reply.body)) };
}

/** Announces the full length. A reply without body is not sent at all: the connection ends. */
function sendHalf(response: ServerResponse, reply: Reply): number | null {
  if (reply.body === null) {
    response.destroy();
    return null;
  }
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, ...lengthOf(reply) });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
  return reply.status;
}
