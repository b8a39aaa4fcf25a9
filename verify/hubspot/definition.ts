import { z } from 'zod';
import { Differs } from '../check.ts';
import { describeReply, type PortalReply } from './portal-client.ts';

export const option = (value: string) => ({ label: value, value, hidden: false });

/** The properties that checks work on, by what they are for. */
export const kinds = {
  text: { type: 'string', fieldType: 'text' },
  moment: { type: 'datetime', fieldType: 'date' },
  day: { type: 'date', fieldType: 'date' },
  number: { type: 'number', fieldType: 'number' },
  flag: { type: 'bool', fieldType: 'booleancheckbox', options: [option('true'), option('false')] },
  stage: { type: 'enumeration', fieldType: 'select', options: [option('New'), option('Won')] },
} as const;

const definition = z.looseObject({
  name: z.string(),
  label: z.string().optional(),
  type: z.string(),
  hasUniqueValue: z.boolean().optional(),
  options: z.array(z.looseObject({ value: z.string() })).default([]),
});
export type Definition = z.infer<typeof definition>;

/** Throws Differs when it is none. */
export function definitionOf(reply: PortalReply): Definition {
  const found = definition.safeParse(reply.body);
  if (reply.status >= 300 || !found.success) throw new Differs(`no property: ${describeReply(reply)}`);
  return found.data;
}

/** Throws Differs when it is no list of them. */
export function definitionsOf(reply: PortalReply): Definition[] {
  const found = z.looseObject({ results: z.array(definition) }).safeParse(reply.body);
  if (reply.status >= 300 || !found.success)
    throw new Differs(`no list of properties: ${describeReply(reply)}`);
  return found.data.results;
}
