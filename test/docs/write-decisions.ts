import { writeFile } from 'node:fs/promises';
import { decisionsPage } from './decisions-page.ts';

// `npm run docs`
await writeFile(new URL('../../docs/decisions.md', import.meta.url), decisionsPage());
