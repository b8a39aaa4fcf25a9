import { writeFile } from 'node:fs/promises';
import { configJsonSchemaText } from './json-schema.ts';

// `npm run schema`: leadsync.schema.json in the root, from the schema that the loader uses.
await writeFile(new URL('../../leadsync.schema.json', import.meta.url), configJsonSchemaText());
