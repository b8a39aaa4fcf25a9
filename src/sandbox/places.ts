/**
 * The order in which leads are listed. A lead keeps its place number when another is removed, so a position in a
 * cursor stays right and every operation takes the same time for any number of leads. Removed places stay empty.
 */
export class Places {
  readonly #ids: (string | undefined)[] = [];
  readonly #placeOf = new Map<string, number>();

  /** Number of places, empty ones included. */
  get length(): number {
    return this.#ids.length;
  }

  at(place: number): string | undefined {
    return this.#ids[place];
  }

  add(id: string): void {
    this.#placeOf.set(id, this.#ids.length);
    this.#ids.push(id);
  }

  remove(id: string): void {
    const place = this.#placeOf.get(id);
    if (place === undefined) return;
    this.#placeOf.delete(id);
    this.#ids[place] = undefined;
  }

  /** Both places change what they hold. */
  swap(place: number, other: number): void {
    const id = this.#ids[place];
    const otherId = this.#ids[other];
    this.#ids[place] = otherId;
    this.#ids[other] = id;
    if (otherId !== undefined) this.#placeOf.set(otherId, place);
    if (id !== undefined) this.#placeOf.set(id, other);
  }
}
