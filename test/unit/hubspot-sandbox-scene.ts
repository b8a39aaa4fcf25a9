import { z } from 'zod';
import {
  type HubSpotSandbox,
  type HubSpotSandboxOptions,
  startHubSpotSandbox,
} from '../stand-ins/hubspot/hubspot-sandbox.ts';

export const companies = '/crm/objects/2026-09/companies';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Scene extends AsyncDisposable {
  readonly sandbox: HubSpotSandbox;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  /** All the pages of a list. */
  all(query: string): Promise<Company[]>;
}

const companySchema = z.object({
  id: z.string(),
  properties: z.record(z.string(), z.string().nullable()),
  archived: z.boolean(),
});
export type Company = z.infer<typeof companySchema>;

const listSchema = z.object({
  results: z.array(companySchema),
  paging: z.object({ next: z.object({ after: z.string() }) }).optional(),
});

/** The companies of a list or a batch. */
export function companiesOf({ body }: Answer): Company[] {
  return listSchema.parse(body).results;
}

/** A portal whose companies have lead_id (unique), lead_stage (new, won) and lead_due (datetime); no limits. */
export async function openScene(options: HubSpotSandboxOptions = {}): Promise<Scene> {
  const sandbox = await startHubSpotSandbox({ limits: null, ...options });
  const { person } = sandbox;
  person.addProperty({ name: 'lead_id', type: 'string', fieldType: 'text', hasUniqueValue: true });
  person.addProperty({
    name: 'lead_stage',
    type: 'enumeration',
    fieldType: 'select',
    options: ['new', 'won'],
  });
  person.addProperty({ name: 'lead_due', type: 'datetime', fieldType: 'date' });
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  };
  const get = (path: string): Promise<Answer> => send('GET', path);
  return {
    sandbox,
    get,
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    all: async (query) => {
      const found: Company[] = [];
      for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
        const { body } = await get(`${companies}?${query}${after === undefined ? '' : `&after=${after}`}`);
        const page = listSchema.parse(body);
        found.push(...page.results);
        after = page.paging?.next.after;
      }
      return found;
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}
