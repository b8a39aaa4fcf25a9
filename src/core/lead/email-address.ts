import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * HTML's "valid e-mail address" (no comments or quotes), with dots only where RFC 5321 section 4.1.2 allows them, letters of
 * any script (RFC 6531) before the @, and a domain that may exist in public DNS, or this machine.
 */
const address =
  /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*@(?:localhost|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+)$/iu;

/** Octets before the @, and of the whole (RFC 5321, section 4.5.3.1). */
const most = { local: 64, address: 254 };

/** Whether a text is exactly one e-mail address, without a name and without blanks around it. */
export function isEmailAddress(text: string): boolean {
  const wire = wireAddress(text);
  const local = wire.slice(0, wire.lastIndexOf('@'));
  return (
    address.test(wire) && Buffer.byteLength(wire) <= most.address && Buffer.byteLength(local) <= most.local
  );
}

/** An address as mail servers get it: the domain in ASCII (`münchen.de` is `xn--mnchen-3ya.de`), the rest in NFC. */
export function wireAddress(text: string): string {
  const [local, domain] = parts(text);
  // Only what has other letters: an ASCII domain stays as it is spelled.
  const isIdn = /^[\p{L}\p{N}\p{M}.-]+$/u.test(domain) && !isAscii(domain);
  return `${local}${isIdn ? domainToASCII(domain) : domain}`;
}

/** What an address is known by: in small letters, with the domain as people read it. One person has one. */
export function addressKey(text: string): string {
  const [local, domain] = parts(wireAddress(text));
  return `${local}${/xn--/i.test(domain) ? domainToUnicode(domain) : domain}`.toLowerCase();
}

/** Whether only a mail server that knows SMTPUTF8 (RFC 6531) can take an address. */
export function needsUtf8(text: string): boolean {
  return !isAscii(wireAddress(text));
}

/** With the @ in the first part, if any. */
function parts(text: string): readonly [string, string] {
  const composed = text.normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  return [composed.slice(0, at), composed.slice(at)];
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** A name that may hold anything but the brackets, and the address in them. */
const bracketed = /^[^<>]*<([^<>]+)>$/;

/**
 * The addresses that people write into one cell, as they are spelled: `carla@example.com`, `Carla Meyer <carla@example.com>`,
 * `Meyer, Carla <carla@example.com>`, `mailto:carla@example.com`; several with commas, semicolons or line breaks between
 * them. Empty when anything else is among them: who is meant would be a guess.
 */
export function emailAddresses(text: string): readonly string[] {
  const found: string[] = [];
  for (const part of text.replaceAll(/[\u200b-\u200d\ufeff]/g, '').split(/[;\r\n]/)) {
    let name = '';
    for (const piece of part.split(',')) {
      const written = `${name}${piece}`.trim();
      const address = addressIn(written);
      if (address !== null) found.push(address);
      // A comma may be within a name: what follows says so.
      name = address === null && written !== '' ? `${written}, ` : '';
      if (name !== '' && /@/.test(name) && !/["<]/.test(name)) return [];
    }
    if (name !== '') return [];
  }
  return found;
}

function addressIn(written: string): string | null {
  const plain = (bracketed.exec(written)?.[1] ?? written).trim().replace(/^mailto:([^?]*).*$/i, '$1');
  return isEmailAddress(plain) ? plain : null;
}
