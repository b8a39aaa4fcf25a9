import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Secret } from '../../../src/config/secret.ts';
import { createHubSpotTarget, type HubSpotTarget } from '../../../src/targets/hubspot/hubspot-target.ts';
import { contractFields } from '../../contract/target-harness.ts';

export interface ScriptedRequest {
  /** The end of the path behind the version, such as `companies/batch/update`. */
  readonly what: string;
  readonly query: URLSearchParams;
  readonly body: { readonly inputs?: readonly Input[] };
}

interface Input {
  readonly id: string;
  readonly objectWriteTraceId: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** What is answered with 200; `status` other than that; undefined: as for an empty portal. */
type Script = (request: ScriptedRequest) => { readonly status?: number; readonly body: unknown } | undefined;

export interface ScriptedPortal extends AsyncDisposable {
  readonly target: HubSpotTarget;
  readonly requests: ScriptedRequest[];
  /** Ms to add to the clock. */
  later: number;
  script: Script;
}

const text_ = { type: 'string', fieldType: 'text' };
const properties = [
  { ...text_, name: 'lead_id', hasUniqueValue: true },
  ...contractFields.map(({ field }) => ({ ...text_, name: field })),
];

/** A portal that answers what a test tells it, for what the stand-in never says. */
export async function scriptedPortal(script: Script): Promise<ScriptedPortal> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const [, what = ''] = /^\/crm\/(?:objects|properties)\/2026-09\/(.*)$/.exec(url.pathname) ?? [];
      const parsed: ScriptedRequest['body'] = body === '' ? {} : JSON.parse(body);
      const isProperties = url.pathname.includes('/properties/');
      const asked = { what: isProperties ? 'properties' : what, query: url.searchParams, body: parsed };
      requests.push(asked);
      answer(response, portal.script(asked) ?? { body: { results: isProperties ? properties : [] } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const target = createHubSpotTarget({
    apiUrl: `http://127.0.0.1:${port}`,
    accessToken: new Secret('pat'),
    timeZone: 'UTC',
    clock: { now: () => Date.now() + portal.later, random: () => 0 },
    fields: contractFields.map((field) => ({ ...field, column: field.field })),
    idColumn: 'lead_id',
  });
  const portal: ScriptedPortal = {
    target,
    requests,
    later: 0,
    script,
    async [Symbol.asyncDispose]() {
      await target[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return portal;
}

function answer(response: ServerResponse, { status = 200, body }: { status?: number; body: unknown }): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A company as HubSpot shows it. */
export const company = (id: number, shown: Readonly<Record<string, string | null>>) => ({
  id: String(id),
  properties: { lead_id: null, name: null, city: null, due: null, ...shown },
});
