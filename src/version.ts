import packageFile from '../package.json' with { type: 'json' };

/** Of this leadsync, as package.json has it. */
export const version: string = packageFile.version;

/** The address of the repository that published this leadsync; null in a clone. The workflow of a release sets it. */
export const repository: string | null =
  (packageFile as { repository?: { url: string } }).repository?.url.replace(/^git\+|\.git$/g, '') ?? null;
