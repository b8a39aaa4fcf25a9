import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Secret } from '../../src/config/secret.ts';
import type { Random } from '../../src/demo/random.ts';
import type { Drive } from '../stand-ins/msgraph/drive.ts';
import {
  type GraphIncident,
  sampleApp,
  sampleDrive,
  startMsGraphSandbox,
} from '../stand-ins/msgraph/msgraph-sandbox.ts';
import { FaultChances } from './fault-chances.ts';
import { randomGraphFaults } from './random-faults.ts';
import type { Ending, StartServer } from './served-file.ts';
import { localDesk } from './table.ts';

/** What SharePoint's documentation leaves open, and which file lies there. */
export interface GraphSettings {
  readonly ending: Ending;
  readonly answers409: boolean;
}

export function randomGraph(random: Random): GraphSettings {
  return { ending: random.pick(['csv', 'csv', 'xlsx']), answers409: random.below(3) === 0 };
}

export const graphServer =
  ({ answers409 }: GraphSettings): StartServer =>
  async (file, _, hear) => {
    const sandbox = await startMsGraphSandbox();
    sandbox.state.answers409 = answers409;
    const { drive } = sandbox.state;
    const saveChanges = mirror(drive, dirname(file));
    const faults = new FaultChances<GraphIncident>();
    sandbox.incident = async ({ method, path }) => {
      const isStoring = method === 'PUT' && path.endsWith('/content');
      const end = await hear({ name: isStoring ? 'PUT content' : method, isStoring });
      saveChanges();
      const open = drive.at(`Sales/${basename(file)}`);
      if (open !== undefined) open.isOpen = existsSync(lockOf(file));
      if (end === 'lost') return 'lose-request';
      return end === 'unheard' ? 'lose-reply' : (faults.next() ?? undefined);
    };
    const { tenant, clientId, secret } = sampleApp;
    return {
      desk: localDesk,
      msgraph: {
        tenant,
        clientId,
        clientSecret: new Secret(secret?.value ?? ''),
      },
      apiUrl: sandbox.loginUrl,
      addressOf: (name) => ({ drive: sampleDrive, path: `Sales/${name}` }),
      fail: (chance) => faults.fail(randomGraphFaults(chance), chance),
      recover: () => faults.recover(),
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  };

/** The file that says that somebody has it open, which is what Graph tells by 423. */
const lockOf = (file: string): string => join(dirname(file), `.~lock.${basename(file)}#`);

/**
 * People have the drive as a folder of their machine, which is in step at once: what the app saves is written there; the function
 * that is returned saves in the drive what they have changed.
 */
function mirror(drive: Drive, folder: string): () => void {
  const save = drive.save.bind(drive);
  drive.save = (path, bytes, by) => {
    writeFileSync(join(folder, basename(path)), bytes);
    return save(path, bytes, by);
  };
  return () => {
    const names = readdirSync(folder).filter((name) => /^[^.].*\.(csv|xlsx)$/.test(name));
    for (const path of drive.paths()) if (!names.includes(basename(path))) drive.remove(path);
    for (const name of names) {
      const bytes = readFileSync(join(folder, name));
      const path = `Sales/${name}`;
      if (drive.at(path)?.bytes.equals(bytes) !== true) save(path, bytes, 'Anna');
    }
  };
}
