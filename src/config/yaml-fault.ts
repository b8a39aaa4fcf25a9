/** Our own words for the codes of the yaml package: its messages quote the source, which may hold a secret. */
const sentences: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is here already: keep one of the two',
  BAD_INDENT: 'the indentation does not fit the lines above',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  MISSING_CHAR:
    'a character is missing here: a closing quote or bracket, a comma, or the blank after a colon',
  BAD_ALIAS:
    'the alias (*name) has no anchor (&name) above it; put a text that begins with "*" or "&" in quotes',
  BAD_SCALAR_START: 'a text cannot begin with this character: put it in quotes',
  BAD_DQ_ESCAPE: 'an unknown escape after a backslash: use single quotes, or two backslashes',
  TAG_RESOLVE_FAILED: 'a text that begins with "!" needs quotes',
  MULTIPLE_DOCS: 'a second document begins here: one file holds one',
  MULTILINE_IMPLICIT_KEY: 'a key must end with a colon on its own line',
  BLOCK_AS_IMPLICIT_KEY:
    'a value after a key cannot be a mapping on the same line: put a text with ": " in quotes',
  BLOCK_IN_FLOW: 'inside { } and [ ] everything is separated by commas',
  UNEXPECTED_TOKEN:
    'something stands here that does not belong to the structure: a text with special characters needs quotes, as in "${NAME}"',
  RESOURCE_EXHAUSTION: 'aliases (*name) repeat too much: write the values out',
};

/** Why a file is no YAML, by the stable code of the yaml package. */
export function yamlFault(code: string): string {
  return `not valid YAML: ${sentences[code] ?? `put texts with special characters in quotes (${code})`}`;
}
