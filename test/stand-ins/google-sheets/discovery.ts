import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { z } from 'zod';
import { ApiFault, badField } from './api-fault.ts';
import type { FieldMask } from './field-mask.ts';
import { requestKinds, unreadSchemas } from './request-kinds.ts';

/** A schema of a discovery document: JSON Schema draft 3 with Google's own additions. */
interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly additionalProperties?: Schema | undefined;
}

const schemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.string().optional(),
    enum: z.array(z.string()).optional(),
    items: schemaShape.optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    additionalProperties: schemaShape.optional(),
  }),
);
const parameterShape = z.object({
  location: z.enum(['path', 'query']),
  type: z.string(),
  required: z.boolean().optional(),
  repeated: z.boolean().optional(),
  enum: z.array(z.string()).optional(),
});
const refShape = z.object({ $ref: z.string() });
const methodShape = z.object({
  id: z.string(),
  httpMethod: z.string(),
  path: z.string(),
  parameters: z.record(z.string(), parameterShape),
  request: refShape.optional(),
  response: refShape,
});
export type Method = z.infer<typeof methodShape>;
interface Resource {
  readonly methods?: Readonly<Record<string, Method>> | undefined;
  readonly resources?: Readonly<Record<string, Resource>> | undefined;
}
const resourceShape: z.ZodType<Resource> = z.lazy(() =>
  z.object({
    methods: z.record(z.string(), methodShape).optional(),
    resources: z.record(z.string(), resourceShape).optional(),
  }),
);
const documentShape = resourceShape.and(
  z.object({
    schemas: z.record(z.string(), schemaShape),
    parameters: z.record(z.string(), parameterShape),
  }),
);

/** Google's description of its API: the shapes of requests and replies. Read once per process. */
export class Discovery {
  static #loaded: Discovery | null = null;
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly methods: readonly Method[];
  /** Query parameters of every method, such as `fields`. */
  readonly commonParameters: z.infer<typeof documentShape>['parameters'];
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #ajv: Ajv;

  static load(): Discovery {
    Discovery.#loaded ??= new Discovery();
    return Discovery.#loaded;
  }

  private constructor() {
    const text = readFileSync(new URL('sheets-v4.discovery.json', import.meta.url), 'utf8');
    const document = documentShape.parse(JSON.parse(text));
    this.#schemas = document.schemas;
    this.commonParameters = document.parameters;
    this.methods = allMethods(document);
    this.#ajv = new Ajv({ strict: false, verbose: true, validateFormats: false });
  }

  /**
   * Checks a request's body against a schema of the document. Throws Google's 400 with the place in protocol buffer
   * names: `requests[0].add_sheet`.
   */
  checkBody(schemaName: string, body: unknown): void {
    const fault = this.#firstFault(schemaName, body);
    if (fault === null) return;
    const place = googlePath(fault.instancePath);
    if (fault.keyword === 'additionalProperties') {
      const name = String(fault.params['additionalProperty']);
      const at = place === '' ? '' : ` at '${place}'`;
      throw badField(place, `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`);
    }
    const type =
      fault.keyword === 'enum' ? 'TYPE_ENUM' : `TYPE_${String(fault.params['type']).toUpperCase()}`;
    throw badField(
      place,
      `Invalid value at '${place}' (${type}), ${JSON.stringify(fault.data)?.slice(0, 200)}`,
    );
  }

  /** Checks the stand-in's own reply: a fault is a bug of the stand-in. */
  checkReply(schemaName: string, reply: unknown): void {
    const fault = this.#firstFault(schemaName, reply);
    if (fault === null) return;
    const what = `${fault.instancePath} ${fault.message} ${JSON.stringify(fault.params)}`;
    throw new ApiFault(500, `The stand-in's reply is no ${schemaName}: ${what}`);
  }

  /** Throws the 400 of a field mask with names outside the schema. */
  checkMask(schemaName: string, mask: FieldMask, path: string = ''): void {
    if (mask === null) return;
    this.#checkMask({ $ref: schemaName }, mask, path);
  }

  #checkMask(schema: Schema, mask: FieldMask, path: string): void {
    if (mask === null) return;
    const named = schema.$ref === undefined ? schema : this.#schemas[schema.$ref];
    if (named?.items !== undefined) {
      this.#checkMask(named.items, mask, path);
      return;
    }
    for (const [name, below] of mask) {
      const at = path === '' ? name : `${path}.${name}`;
      const child = named?.properties?.[name];
      if (child === undefined) {
        const text = `Error expanding 'fields' parameter. Cannot find matching fields for path '${at}'.`;
        throw badField(at, text, 'Request contains an invalid argument.');
      }
      this.#checkMask(child, below, at);
    }
  }

  #firstFault(schemaName: string, value: unknown): NonNullable<ValidateFunction['errors']>[number] | null {
    let validate = this.#validators.get(schemaName);
    if (validate === undefined) {
      validate = this.#ajv.compile(this.#jsonSchema(schemaName));
      this.#validators.set(schemaName, validate);
    }
    return validate(value) ? null : (validate.errors?.[0] ?? null);
  }

  /** The schema with everything it refers to. */
  #jsonSchema(schemaName: string): object {
    const $defs: Record<string, object> = {};
    const take = (name: string): void => {
      if ($defs[name] !== undefined) return;
      $defs[name] = { type: 'object' };
      const schema = this.#schemas[name];
      if (schema === undefined || unreadSchemas.has(name)) return;
      $defs[name] = jsonSchema(name === 'Request' || name === 'Response' ? onlyKinds(schema) : schema, take);
    };
    take(schemaName);
    return { $ref: `#/$defs/${schemaName}`, $defs };
  }
}

function allMethods(resource: Resource): Method[] {
  const own = Object.values(resource.methods ?? {});
  return [...own, ...Object.values(resource.resources ?? {}).flatMap(allMethods)];
}

/** Unsupported requests are known by name only. */
function onlyKinds(schema: Schema): Schema {
  const kinds = Object.entries(schema.properties ?? {});
  return {
    ...schema,
    properties: Object.fromEntries(
      kinds.map(([kind, body]) => [kind, requestKinds.has(kind) ? body : { type: 'any' }]),
    ),
  };
}

function jsonSchema(schema: Schema, take: (name: string) => void): object {
  if (schema.$ref !== undefined) {
    take(schema.$ref);
    return { $ref: `#/$defs/${schema.$ref}` };
  }
  if (schema.type === 'any') return {};
  if (schema.type === 'array') return { type: 'array', items: jsonSchema(schema.items ?? {}, take) };
  if (schema.type !== 'object')
    return { type: schema.type, ...(schema.enum && { enum: [...schema.enum, null] }) };
  const properties = Object.entries(schema.properties ?? {});
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, one]) => [name, orNull(jsonSchema(one, take))])),
    additionalProperties: schema.additionalProperties ? jsonSchema(schema.additionalProperties, take) : false,
  };
}

/** In the JSON of protocol buffers, null means absent. */
function orNull(schema: object): object {
  if ('$ref' in schema) return { if: { type: 'null' }, else: schema };
  return 'type' in schema ? { ...schema, nullable: true } : schema;
}

/** `/requests/0/addSheet` as `requests[0].add_sheet`. */
function googlePath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) =>
      /^\d+$/.test(step) ? `[${step}]` : `.${step.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}`,
    )
    .join('')
    .replace(/^\./, '');
}
