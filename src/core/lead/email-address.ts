/**
 * HTML's "valid e-mail address" (ASCII, no comments or quotes), with dots only where RFC 5321 section 4.1.2 allows
 * them, and a domain that may exist in public DNS, or this machine.
 */
const address =
  /^(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:localhost|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+)$/i;

/** Whether a text is exactly one e-mail address, without a name and without blanks around it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
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
