import { writeFile } from 'node:fs/promises';
import { templateDataPage } from './template-data-page.ts';

// `npm run docs`
await writeFile(new URL('../../docs/template-data.md', import.meta.url), await templateDataPage());
