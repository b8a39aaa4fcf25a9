import { sheets, type sheets_v4 } from '@googleapis/sheets';
import { gaxios, JWT } from 'google-auth-library';
import { z } from 'zod';
import type { SheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';

const keyShape = z.object({
  client_email: z.string(),
  private_key: z.string(),
  private_key_id: z.string(),
  token_uri: z.string(),
});

const spreadsheetsScope = 'https://www.googleapis.com/auth/spreadsheets';

/** Signs with the stand-in's key; the token comes from the stand-in. `change`: another key, other scopes. */
export function signer(
  sandbox: SheetsSandbox,
  scopes: readonly string[] = [spreadsheetsScope],
  change: { readonly email?: string; readonly key?: string } = {},
): JWT {
  const key = keyShape.parse(JSON.parse(sandbox.keyFile()));
  const transporter = new gaxios.Gaxios();
  transporter.interceptors.request.add({
    resolved: async (config) => {
      if (config.url.href.startsWith('https://oauth2.googleapis.com/token'))
        config.url = new URL(key.token_uri);
      return config;
    },
  });
  return new JWT({
    email: change.email ?? key.client_email,
    key: change.key ?? key.private_key,
    keyId: key.private_key_id,
    scopes: [...scopes],
    transporter,
  });
}

/** Google's own client, its retry off, on the stand-in. */
export function sheetsClient(sandbox: SheetsSandbox, auth: JWT = signer(sandbox)): sheets_v4.Sheets {
  return sheets({ version: 'v4', auth, rootUrl: sandbox.url, retry: false });
}

const faultShape = z.object({
  status: z.number(),
  response: z.object({ data: z.unknown() }).optional(),
});
const bodyShape = z.object({
  error: z.object({
    code: z.number(),
    message: z.string(),
    status: z.string(),
    details: z.array(z.record(z.string(), z.unknown())).default([]),
  }),
});

/** The error that Google's client throws for an answer, as `400 message`. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const { code, message } = await errorBodyOf(call);
  return `${code} ${message}`;
}

/** The AIP-193 body of a refused call. */
export async function errorBodyOf(call: Promise<unknown>): Promise<z.infer<typeof bodyShape>['error']> {
  const answered = await call.then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (answered === null) throw new Error('The call was answered, not refused.');
  const { status, response } = faultShape.parse(answered.error);
  const body = bodyShape.parse(response?.data).error;
  if (body.code !== status) throw new Error(`Status ${status} with a body that says ${body.code}.`);
  return body;
}
