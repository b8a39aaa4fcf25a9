import type { Random } from './random.ts';

/** `uuid7`: time-ordered as in the API reference, section 2. `other`: UUIDs of version 4, which tell no time. */
export type IdKind = 'uuid7' | 'other';

/** A lead id (RFC 9562). `atMs`: epoch ms of its creation, used by `uuid7` alone. */
export function createLeadId(kind: IdKind, atMs: number, random: Random): string {
  const time = kind === 'uuid7' ? atMs.toString(16).padStart(12, '0') : hex(random, 12);
  const version = kind === 'uuid7' ? '7' : '4';
  const variant = (8 + random.below(4)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${hex(random, 3)}-${variant}${hex(random, 3)}-${hex(random, 12)}`;
}

/** At most 13 digits: what a number holds exactly; the generator itself gives 32 bits at a time. */
function hex(random: Random, digits: number): string {
  if (digits > 8) return hex(random, 8) + hex(random, digits - 8);
  return random
    .below(16 ** digits)
    .toString(16)
    .padStart(digits, '0');
}
