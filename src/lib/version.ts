import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };

export const version: string = packageFile.version;

/** The address of the repository that published this leadsync; null: none has. The workflow of a release sets it. */
const repository: string | null =
  (packageFile as { repository?: { url: string } }).repository?.url.replace(/^git\+|\.git$/g, '') ?? null;

/**
 * Where a page of the documentation is, for messages: in a published leadsync an address, of the same version, else a path
 * from the current folder. @param page with an anchor if need be: `backup.md#restore`
 */
export function docsPath(page: string): string {
  if (repository !== null) return `${repository}/blob/v${version}/docs/${page}`;
  return join(relative('', fileURLToPath(new URL('../../docs', import.meta.url))), page);
}

/** Where the JSON Schema of leadsync.yaml is, for editors: an address, else a path from `folder`. */
export function schemaPath(folder: string): string {
  if (repository !== null) return `${repository}/raw/v${version}/leadsync.schema.json`;
  return relative(folder, fileURLToPath(new URL('../../leadsync.schema.json', import.meta.url)));
}
