import { writeFile } from 'node:fs/promises';
import { problemsPage } from './problems-page.ts';

// `npm run docs`
await writeFile(new URL('../../docs/problems.md', import.meta.url), problemsPage());
