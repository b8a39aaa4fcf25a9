import { z } from 'zod';
import { alreadyExists, badRequest, notFound } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import type { Portal } from './portal.ts';
import { optionSchema, type Property, type PropertyType, propertyTypes, showProperty } from './property.ts';
import type { Reply } from './send-reply.ts';

const mostUnique = 10;

/** The field types of each property type. */
const fieldTypes: Readonly<Record<PropertyType, readonly string[]>> = {
  bool: ['booleancheckbox', 'calculation_equation'],
  date: ['date'],
  datetime: ['date'],
  enumeration: ['select', 'radio', 'checkbox', 'booleancheckbox'],
  number: ['number', 'calculation_equation'],
  phone_number: ['phonenumber'],
  string: ['text', 'textarea', 'phonenumber', 'html', 'file'],
};

const text = z.string().min(1);
const changeable = {
  description: z.string().exactOptional(),
  options: z.array(optionSchema).exactOptional(),
  displayOrder: z.int().exactOptional(),
  hidden: z.boolean().exactOptional(),
  formField: z.boolean().exactOptional(),
};
const createSchema = z.strictObject({
  ...changeable,
  label: text,
  groupName: text,
  name: z.string().regex(/^[a-z][a-z0-9_]{0,99}$/),
  type: z.enum(propertyTypes),
  fieldType: z.string(),
  hasUniqueValue: z.boolean().exactOptional(),
});
// What a change of type does to existing values is undocumented: refused.
const changeSchema = z.strictObject({
  ...changeable,
  label: text.exactOptional(),
  groupName: text.exactOptional(),
});
const groupSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  label: z.string().min(1),
  displayOrder: z.int().optional(),
});
const listQuery = z.strictObject({ archived: z.enum(['true', 'false']).default('false') });

/** `GET …/properties/…/companies`. */
export function listProperties({ portal, query }: ApiCall): Reply {
  const archived = checkInput(listQuery, query).archived === 'true';
  const shown = [...portal.properties.values()].filter(
    (property) => property.archived === archived && !portal.isComing(property),
  );
  return { status: 200, body: { results: shown.map(showProperty) } };
}

/** `GET …/companies/{name}`. */
export function getProperty({ portal, name }: ApiCall): Reply {
  return { status: 200, body: showProperty(existing(portal, name)) };
}

/** `POST …/companies`. An archived namesake is restored as it was (facts: section 5). */
export function createProperty({ portal, body }: ApiCall): Reply {
  const given = checkInput(createSchema, body);
  const before = portal.properties.get(given.name);
  if (before?.archived === true) {
    const restored = portal.addProperty({ ...before, archived: false, updatedAt: portal.now() });
    return { status: 201, body: showProperty(restored) };
  }
  if (before !== undefined) {
    const message = `A property named '${given.name}' already exists.`;
    throw alreadyExists(message, 'Properties.PROPERTY_WITH_NAME_EXISTS');
  }
  checkGroup(portal, given.groupName);
  if (!fieldTypes[given.type].includes(given.fieldType)) {
    throw badRequest(`The field type ${given.fieldType} does not go with the type ${given.type}.`);
  }
  checkOptions(given.type, given.options ?? []);
  if (given.hasUniqueValue === true) {
    const unique = [...portal.properties.values()].filter((property) => property.hasUniqueValue);
    if (unique.length >= mostUnique) throw badRequest(`There are ${mostUnique} unique properties already.`);
    if (given.type !== 'string' && given.type !== 'number') {
      throw badRequest(`A property of the type ${given.type} cannot be unique.`);
    }
  }
  return { status: 201, body: showProperty(portal.addProperty({ ...given, createdAt: portal.now() })) };
}

/** `PATCH …/companies/{name}`: `options` replaces the whole list. */
export function changeProperty({ portal, name, body }: ApiCall): Reply {
  const before = existing(portal, name);
  const changes = checkInput(changeSchema, body);
  if (changes.groupName !== undefined) checkGroup(portal, changes.groupName);
  if (changes.options !== undefined) checkOptions(before.type, changes.options);
  const after = portal.putProperty({ ...before, ...changes, updatedAt: portal.now() });
  return { status: 200, body: showProperty(after) };
}

/** `DELETE …/companies/{name}`: archives it; its values return when it is restored. */
export function archiveProperty({ portal, name }: ApiCall): Reply {
  const property = existing(portal, name);
  if (property.hubspotDefined) throw badRequest(`${name} is HubSpot's own and cannot be archived.`);
  portal.putProperty({ ...property, archived: true, updatedAt: portal.now() });
  return { status: 204 };
}

/** `GET …/companies/groups`. */
export function listGroups({ portal }: ApiCall): Reply {
  const results = [...portal.groups].map(([name, label]) => ({
    name,
    label,
    displayOrder: -1,
    archived: false,
  }));
  return { status: 200, body: { results } };
}

/** `POST …/companies/groups`. */
export function createGroup({ portal, body }: ApiCall): Reply {
  const { name, label, displayOrder = -1 } = checkInput(groupSchema, body);
  if (portal.groups.has(name)) {
    throw alreadyExists(
      `A property group named '${name}' already exists.`,
      'Properties.GROUP_WITH_NAME_EXISTS',
    );
  }
  portal.groups.set(name, label);
  return { status: 201, body: { name, label, displayOrder, archived: false } };
}

function existing(portal: Portal, name: string): Property {
  const property = portal.property(name);
  if (property === undefined) throw notFound(`Property "${name}" does not exist`);
  return property;
}

function checkGroup(portal: Portal, name: string): void {
  if (!portal.groups.has(name)) throw badRequest(`There is no property group named ${name}.`);
}

function checkOptions(type: PropertyType, options: Property['options']): void {
  const values = options.map(({ value }) => value);
  if (new Set(values).size < values.length) throw badRequest('The options have a value twice.');
  if (new Set(options.map(({ label }) => label)).size < values.length) {
    throw badRequest('The options have a label twice.');
  }
  if (type === 'bool' && values.toSorted().join() !== 'false,true') {
    throw badRequest('A bool property has the options true and false.');
  }
  if (type === 'enumeration' && values.length === 0) throw badRequest('An enumeration needs options.');
  if (type !== 'bool' && type !== 'enumeration' && values.length > 0) {
    throw badRequest(`A property of the type ${type} has no options.`);
  }
}
