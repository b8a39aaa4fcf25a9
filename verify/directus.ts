/**
 * Finds out whether a table that people edit in Directus stays in step with the leads: installs the real program (690 MB,
 * into ~/.cache/leadsync or LEADSYNC_VERIFY_CACHE, once), starts it on a Postgres of its own, and edits by its API:
 *
 *     npm run verify:directus
 *
 * Exit code 0: all is as promised; 1: something is not, or could not be tried.
 */
import { directus } from './grids/directus.ts';
import { verifyGrid } from './grids/verify-grid.ts';

process.exitCode = await verifyGrid(directus);
