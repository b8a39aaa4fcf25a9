import { inspect } from 'node:util';

/** A value that must never be printed: logs, JSON and errors show `[secret]`. `reveal` is for the one place that sends it. */
export class Secret {
  #value: string;
  #look = (): void => {};

  constructor(value: string) {
    this.#value = value;
  }

  /** As it is at this moment: whoever connects again asks again. */
  reveal(): string {
    this.#look();
    return this.#value;
  }

  /** `look` may `renew` it; called before each `reveal`. */
  follow(look: () => void): void {
    this.#look = look;
  }

  /** Takes the value of another, unless it leads elsewhere: of an address, only the login may change while work is under way. */
  renew(other: Secret): void {
    if (placeOf(other.#value) === placeOf(this.#value)) this.#value = other.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** An address without the logins in it; empty: it is none. */
function placeOf(value: string): string {
  if (!/^[a-z-]+:\/\//i.test(value)) return '';
  return value
    .replace(/^([^/]*\/\/)[^@/?#]*@/, '$1')
    .replaceAll(/([?&](?:sentinelUsername|sentinelPassword|user|password)=)[^&]*/g, '$1');
}
