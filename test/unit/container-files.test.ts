import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { settings } from '../../src/config/settings.ts';

const root = join(import.meta.dirname, '../..');
const kubernetes = join(root, 'deploy/kubernetes');

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      read_only: z.literal(true),
      cap_drop: z.tuple([z.literal('ALL')]),
      security_opt: z.tuple([z.literal('no-new-privileges:true')]),
      user: z.string().optional(),
      environment: z.record(z.string(), z.string()).default({}),
      secrets: z.array(z.string()).default([]),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
        containers: z.tuple([
          z.object({
            image: z.string(),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
            securityContext: z.object({
              allowPrivilegeEscalation: z.literal(false),
              readOnlyRootFilesystem: z.literal(true),
              capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
            }),
          }),
        ]),
      }),
    }),
  }),
});

async function compose(): Promise<z.output<typeof composeSchema>> {
  return composeSchema.parse(parse(await readFile(join(root, 'compose.yaml'), 'utf8'), { merge: true }));
}

/** What .env.example sets, also in its comments. */
async function shown(): Promise<NodeJS.Dict<string>> {
  const example = await readFile(join(root, '.env.example'), 'utf8');
  return parseEnv(example.replaceAll(/^#(?=[A-Z_]+=)/gm, ''));
}

async function deployment(): Promise<z.output<typeof deploymentSchema>['spec']['template']['spec']> {
  const text = await readFile(join(kubernetes, 'deployment.yaml'), 'utf8');
  return deploymentSchema.parse(parse(text)).spec.template.spec;
}

const known = new Set(
  settings.flatMap((setting) => {
    if (!('variable' in setting)) return [];
    return 'secret' in setting ? [setting.variable, `${setting.variable}_FILE`] : [setting.variable];
  }),
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leadsync-container-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('Dockerfile', () => {
  test('copies only what .dockerignore lets through', async () => {
    const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    const allowed = (await readFile(join(root, '.dockerignore'), 'utf8')).matchAll(/^!(.+)$/gm);
    expect(new Set(copied)).toEqual(new Set([...allowed].map(([, name]) => name)));
  });
});

describe('compose.yaml', () => {
  test('every service has a root that cannot be written, no capabilities and a user that is not root', async () => {
    const { services } = await compose();
    expect(Object.keys(services)).toEqual(['worker', 'postgres', 'redis', 'mailpit']);
    const users = Object.entries(services).map(([name, { user }]) => [name, user]);
    // The worker's image names its own.
    expect(users.filter(([, user]) => user === undefined)).toEqual([['worker', undefined]]);
  });

  test('sets only variables that exist, as .env.example does, also in its comments', async () => {
    const { services } = await compose();
    const set = [...Object.keys(services['worker']?.environment ?? {}), ...Object.keys(await shown())];
    const own = set.filter((name) => !/^(?:LEADSYNC|COMPOSE)_/.test(name));
    expect(own.filter((name) => !known.has(name))).toEqual([]);
    expect(own).toContain('SMTP_URL');
  });

  test('deploy/make-secrets.sh makes every secret, keeps them from others, and never changes one', async () => {
    const { services, secrets } = await compose();
    await mkdir(join(folder, 'deploy'));
    const script = join(folder, 'deploy/make-secrets.sh');
    await cp(join(root, 'deploy/make-secrets.sh'), script);
    const make = (input: string): string =>
      execFileSync('sh', [script], { input, encoding: 'utf8', stdio: 'pipe' });
    const read = (): Promise<string[]> =>
      Promise.all(Object.values(secrets).map(({ file }) => readFile(join(folder, file), 'utf8')));

    expect(() => make('')).toThrow('No key was given');
    make('the-key\n');
    const first = await read();
    make('another-key\n');
    expect(await read()).toEqual(first);
    expect((await stat(join(folder, 'secrets'))).mode & 0o777).toBe(0o700);

    const { environment: lines = {}, secrets: granted } = services['worker'] ?? {};
    const example = await shown();
    // As with the profile redis.
    const environment = Object.fromEntries(
      Object.entries(lines).map(([name, value]) => [
        name,
        value.replace(/^\$\{(\w+):-\}$/, (_, of: string) => example[of] ?? ''),
      ]),
    );
    expect(Object.values(environment).map((path) => basename(path))).toEqual(granted);
    const here = Object.entries(environment).map(([name, path]) => [
      name,
      join(folder, 'secrets', basename(path)),
    ]);
    const env = {
      ...parseEnv(await readFile(join(root, '.env.example'), 'utf8')),
      ...Object.fromEntries(here),
    };
    const config = await loadConfig({ env, cwd: folder });
    expect(config.connections[0]?.leads.apiKey.reveal()).toBe('the-key');
    expect(config.databaseUrl?.reveal()).toMatch(/^postgres:\/\/leadsync:[\w-]{43}@postgres:5432\/leadsync$/);
    expect(config.redisUrl?.reveal()).toMatch(/^redis:\/\/:[\w-]{43}@redis:6379$/);
  });
});

describe('deploy/kubernetes', () => {
  test('the configuration and the secrets are what leadsync takes', async () => {
    const { env } = (await deployment()).containers[0];
    expect(env.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    const read = async (name: string): Promise<unknown> =>
      parse(await readFile(join(kubernetes, name), 'utf8'));
    const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(await read('config.yaml'));
    const { stringData } = z
      .object({ stringData: z.record(z.string(), z.string()) })
      .parse(await read('secret.yaml'));
    for (const [name, text] of Object.entries({ ...data, ...stringData })) {
      await writeFile(join(folder, name), text);
    }
    const here = env.map(({ name, value }) => [name, join(folder, basename(value))]);
    const config = await loadConfig({ env: Object.fromEntries(here), cwd: folder });
    expect(config.connections.map(({ name }) => name)).toEqual(['berlin']);
    expect(env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => basename(value))).toEqual(
      Object.keys(stringData),
    );
  });

  test('kustomization.yaml lists every manifest, and the image that the deployment names', async () => {
    const { resources, images } = z
      .object({ resources: z.array(z.string()), images: z.array(z.record(z.string(), z.string())) })
      .parse(parse(await readFile(join(kubernetes, 'kustomization.yaml'), 'utf8')));
    const manifests = (await readdir(kubernetes)).filter((name) => name !== 'kustomization.yaml');
    expect(resources.toSorted()).toEqual(manifests.toSorted());
    const [name, newTag] = (await deployment()).containers[0].image.split(':');
    expect(images).toEqual([{ name, newName: name, newTag }]);
  });
});
