import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { Path } from './settings-lookup.ts';

/** Where a value begins, or its key when it is a collection or nothing; for what is missing, where it should have been. */
export function yamlOffset(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    let next: Node | undefined;
    let keyOffset: number | undefined;
    if (isMap<Node, Node | null>(parent)) {
      // Of two equal keys the last is the one in use.
      const pair = parent.items.findLast(
        (item) => isScalar(item.key) && String(item.key.value) === String(key),
      );
      keyOffset = pair?.key.range?.[0];
      next = pair?.value ?? undefined;
    } else if (isSeq<Node>(parent) && typeof key === 'number') {
      next = parent.items[key];
    }
    const start = next?.range?.[0];
    const hasText = isScalar(next) && next.value !== null;
    offset =
      (hasText ? start : (keyOffset ?? (isCollection(next) ? start : undefined))) ??
      keyOffset ??
      start ??
      offset;
    if (next === undefined) return offset;
    node = next;
  }
  return offset;
}
