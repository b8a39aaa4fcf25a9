import type { Place } from '../../ports/target.ts';
import type { FileFormat } from './file-format.ts';
import type { FileLocation, FilePlace } from './file-place.ts';

type Parts = Pick<FileFormat, 'part' | 'hasPart'>;

/** Separates the file from the part: the identity of a file has no line end. */
const partMark = '\n';

export async function partPlace(place: FilePlace, format: Parts, signal: AbortSignal): Promise<Place> {
  const location = await place.locate(signal);
  await using file = await location.open(signal);
  const isThere = file !== null && (await format.hasPart(file, signal));
  return { ...partAt(location, place.name, format), isThere };
}

/** Whether a file or its part is gone, or its configured name, a link, leads elsewhere now. */
export async function isPartLeft(
  { id, address }: Pick<Place, 'id' | 'address'>,
  place: FilePlace,
  format: Parts,
  signal: AbortSignal,
): Promise<boolean> {
  const [fileId = '', part = ''] = id.split(partMark);
  const former = place.formerly(fileId);
  if (former === null) return false;
  const location = await place.locate(signal);
  const here = partAt(location, place.name, format);
  if (id === here.id) return false;
  if (address === here.address) return true;
  await using file = await (await former.locate(signal)).open(signal);
  if (file === null) return true;
  if (part === '' || format.part === '') return location.id === fileId;
  return !(await format.hasPart(file, signal, part));
}

function partAt(location: FileLocation, name: string, { part }: Parts): Pick<Place, 'id' | 'address'> {
  return {
    id: part === '' ? location.id : location.id + partMark + part.normalize('NFC').trim().toLowerCase(),
    address: part === '' ? name : `${name} (${part})`,
  };
}
