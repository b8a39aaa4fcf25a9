import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/parse-json.ts';

/** A service account key, as the Google Cloud console creates it. */
const serviceAccountSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.email(),
  private_key: z.string().refine(isPrivateKey, 'is not a private key in PEM form'),
  token_uri: z.url({ protocol: /^https?$/ }).exactOptional(),
});

/** Where a workload identity gets its tokens. Google's library knows the other fields. */
const sourceSchema = z.union([
  z
    .looseObject({ environment_id: z.string(), regional_cred_verification_url: z.string() })
    .transform((aws) => ({ aws })),
  z.looseObject({ executable: z.looseObject({ command: z.string() }) }).transform((program) => ({ program })),
  z
    .looseObject({ file: z.string().exactOptional(), url: z.string().exactOptional() })
    .transform((fileOrUrl) => ({ fileOrUrl })),
]);

/** A workload identity: a cloud or identity provider vouches for this process; there is no key. */
const externalAccountSchema = z.object({
  type: z.literal('external_account'),
  audience: z.string(),
  subject_token_type: z.string(),
  token_url: z.url({ protocol: /^https?$/ }),
  service_account_impersonation_url: z.url({ protocol: /^https?$/ }).exactOptional(),
  service_account_impersonation: z
    .object({ token_lifetime_seconds: z.number().exactOptional() })
    .exactOptional(),
  client_id: z.string().exactOptional(),
  client_secret: z.string().exactOptional(),
  workforce_pool_user_project: z.string().exactOptional(),
  credential_source: sourceSchema,
});

const credentialsSchema = z.discriminatedUnion('type', [serviceAccountSchema, externalAccountSchema]);

export type GoogleCredentials = z.infer<typeof credentialsSchema>;

const where = 'GOOGLE_APPLICATION_CREDENTIALS';
const howToGetOne = `Create a key for a service account in the Google Cloud console, put the file on this machine and its path into ${where}.`;

/** Throws `target.credentials-missing`, or `-invalid` when leadsync cannot use it (never). Messages name fields, never their content. */
export async function readGoogleCredentials(path: string | undefined): Promise<GoogleCredentials> {
  if (path === undefined) {
    throw new LeadsyncError(
      'target.credentials-missing',
      `Google Sheets needs an account: ${where} is not set`,
      {
        help: howToGetOne,
      },
    );
  }
  const json = parseJson(await readText(path));
  if (json === undefined) throw invalid(path, 'is not JSON');
  const parsed = credentialsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const what = field === '' ? 'is not an account' : `is not a usable account: "${field}" ${mistake(issue)}`;
  throw invalid(path, what);
}

/** The address to share a spreadsheet with; null for a workload identity without an account. */
export function accountAddress(credentials: GoogleCredentials): string | null {
  if (credentials.type === 'service_account') return credentials.client_email;
  const url = credentials.service_account_impersonation_url;
  const email = url === undefined ? null : /\/serviceAccounts\/([^/:]+)/.exec(new URL(url).pathname)?.[1];
  return email === null || email === undefined ? null : decodeURIComponent(email);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new LeadsyncError(
        'target.credentials-missing',
        `${where} names ${path}, but the file does not exist`,
        {
          help: howToGetOne,
        },
      );
    }
    throw invalid(path, `cannot be read (${code})`);
  }
}

function invalid(path: string, what: string): LeadsyncError {
  return new LeadsyncError('target.credentials-invalid', `${path} (${where}) ${what}`, {
    help: `It must be the key file of a service account, or the file of a workload identity. ${howToGetOne}`,
  });
}

function mistake(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'custom') return issue.message;
  return issue?.code === 'invalid_union' ? 'is of an unknown kind' : 'is missing or wrong';
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function systemCode(error: unknown): string {
  return z.object({ code: z.string() }).safeParse(error).data?.code ?? 'unknown';
}
