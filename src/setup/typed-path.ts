import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * A path as it was meant: in quotes as some programs copy it, with `\ ` for blanks as a terminal writes a file that is dragged
 * into it, beginning with `~/`, or as the address of a file on this machine. @param home the folder that `~` stands for
 */
export function typedPath(written: string, home = homedir()): string {
  const text = written.trim();
  const [, , quoted] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  const address = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(text)?.[1];
  if (address !== undefined) return decodeURIComponent(address);
  const plain = text.replaceAll(/\\([ ()&'"[\]])/g, '$1');
  return plain.startsWith('~/') ? join(home, plain.slice(2)) : plain;
}
