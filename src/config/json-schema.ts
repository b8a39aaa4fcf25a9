import { z } from 'zod';
import { fileSchema } from './schema.ts';
import { type Path, settingAt } from './settings-lookup.ts';

/** The part of a JSON Schema that settings can stand in. */
interface Node {
  properties?: Record<string, Node> | undefined;
  additionalProperties?: Node | boolean | undefined;
  anyOf?: Node[] | undefined;
  oneOf?: Node[] | undefined;
  items?: Node | undefined;
}

const node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    properties: z.record(z.string(), node).optional(),
    additionalProperties: z.union([z.boolean(), node]).optional(),
    anyOf: z.array(node).optional(),
    oneOf: z.array(node).optional(),
    items: node.optional(),
  }),
);

/** leadsync.yaml as a JSON Schema for editors; draft 7 is what the YAML language server knows best. */
function configJsonSchema(): object {
  const generated = z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' });
  return { title: 'leadsync.yaml', ...describe(node.parse(generated), []) };
}

/** The content of leadsync.schema.json. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** Adds the settings' meanings, to the `whole` of a setting and not to each of its forms. `any` name is looked up as such: the settings have a wildcard there. */
function describe(part: Node, path: Path, whole = true): object {
  const meaning = whole ? settingAt(path)?.meaning : undefined;
  const { properties, additionalProperties, anyOf, oneOf, items } = part;
  return {
    ...(meaning === undefined ? {} : { description: meaning }),
    ...part,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, inner]) => [key, describe(inner, [...path, key])]),
          ),
        }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: describe(additionalProperties, [...path, 'any']) }
      : {}),
    ...(items === undefined ? {} : { items: describe(items, [...path, 0]) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((inner) => describe(inner, path, false)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((inner) => describe(inner, path, false)) }),
  };
}
