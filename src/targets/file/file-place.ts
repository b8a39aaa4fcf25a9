import type { Place } from '../../ports/target.ts';
import type { FileFormat } from './file-format.ts';
import { followLinks, openSource } from './source-file.ts';

type Parts = Pick<FileFormat, 'part' | 'hasPart'>;

/** Separates the path from the part: paths have no line end. */
const partMark = '\n';

/** The place of a file: its real path, in one spelling for macOS and Linux, and its part. */
export async function filePlace(name: string, format: Parts, signal: AbortSignal): Promise<Place> {
  const path = await followLinks(name);
  await using file = await openSource(path);
  return { ...placeAt(path, name, format), isThere: file !== null && (await format.hasPart(file, signal)) };
}

/** Whether a file or its part is gone, or its configured path, a link, leads elsewhere now. */
export async function isFileLeft(
  { id, address }: Pick<Place, 'id' | 'address'>,
  name: string,
  format: Parts,
  signal: AbortSignal,
): Promise<boolean> {
  const [, text] = /^file:(.*)$/s.exec(id) ?? [];
  if (text === undefined) return false;
  const [path = '', part = ''] = text.split(partMark);
  const here = placeAt(await followLinks(name), name, format);
  if (id === here.id) return false;
  if (address === here.address) return true;
  await using file = await openSource(path);
  if (file === null) return true;
  if (part === '' || format.part === '') return here.id.split(partMark, 1)[0] === `file:${path}`;
  return !(await format.hasPart(file, signal, part));
}

function placeAt(path: string, name: string, { part }: Parts): Pick<Place, 'id' | 'address'> {
  return {
    id: `file:${path.normalize('NFC')}${part === '' ? '' : partMark + part.normalize('NFC').trim().toLowerCase()}`,
    address: part === '' ? name : `${name} (${part})`,
  };
}
