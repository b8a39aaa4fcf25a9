import packageFile from '../package.json' with { type: 'json' };

/** Of this leadsync, as package.json has it. */
export const version: string = packageFile.version;
