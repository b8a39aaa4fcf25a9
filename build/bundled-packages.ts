import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });

/** A package of which something is in the bundle. */
export interface BundledPackage extends z.output<typeof manifest> {
  readonly folder: string;
}

/** The packages that these modules belong to, by name; each with its licence, or it throws. */
export async function bundledPackages(modules: readonly string[]): Promise<readonly BundledPackage[]> {
  const folders = new Set(
    modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const packages = new Map<string, BundledPackage>();
  for (const folder of folders) {
    const { name, version, license } = manifest.parse(
      JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')),
    );
    packages.set(`${name}@${version}`, { name, version, license, folder });
  }
  return [...packages.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Name, version and licence of each package, with the texts that it comes with. */
export async function licenceTexts(packages: readonly BundledPackage[]): Promise<string> {
  const parts = packages.map(async ({ name, version, license, folder }) => {
    const files = (await readdir(folder, { withFileTypes: true })).filter(
      (entry) => entry.isFile() && /^(?:licen[cs]e|notice|copying)/i.test(entry.name),
    );
    const names = files.map((file) => file.name).toSorted();
    const texts = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8')));
    return [`${name} ${version}: ${license}`, ...texts.map((text) => text.trim())].join('\n\n');
  });
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `What is in the modules beside this file, but for leadsync itself.${line}${(await Promise.all(parts)).join(line)}\n`;
}

const bill = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({}) }),
  components: z.array(z.looseObject({ name: z.string(), version: z.string(), 'bom-ref': z.string() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

/** CycloneDX, as npm writes it of package-lock.json, narrowed to these packages. */
export async function billOfMaterials(root: string, packages: readonly BundledPackage[]): Promise<string> {
  const options = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { stdout } = await promisify(execFile)('npm', ['sbom', ...options], {
    cwd: root,
    maxBuffer: 64 * 1024 ** 2,
  });
  const all = bill.parse(JSON.parse(stdout));
  const bundled = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  // To npm they are for development alone.
  const components = all.components
    .filter(({ name, version }) => bundled.has(`${name}@${version}`))
    .map((component) => ({ ...component, scope: 'required', properties: [] }));
  if (components.length !== bundled.size) throw new Error('npm sbom lacks packages that are bundled');
  const refs = new Set(components.map((component) => component['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  // npm takes the name of the folder.
  const component = { ...all.metadata.component, name: 'leadsync' };
  const metadata = { ...all.metadata, component };
  return `${JSON.stringify({ ...all, metadata, components, dependencies }, null, 2)}\n`;
}
