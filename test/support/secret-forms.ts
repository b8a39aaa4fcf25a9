const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const every = (text: string, as: (code: string) => string): string =>
  text
    .split('')
    .map((sign) => as(sign.charCodeAt(0).toString(16).padStart(2, '0')))
    .join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const doubled = (text: string): string => encodeURIComponent(encodeURIComponent(text));

/** How somebody may write a secret down who repeats it. */
export const secretForms: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  JSON: json,
  'JSON with escaped slashes': (text) => json(text).replaceAll('/', '\\/'),
  'JSON with + & < > escaped': (text) => json(text).replaceAll('+', '\\u002B').replaceAll('&', '\\u0026'),
  'JSON, each character escaped': (text) => every(text, (code) => `\\u00${code}`),
  'JSON in JSON': (text) => json(json(text).replaceAll('/', '\\/')),
  'URL-encoded': encodeURIComponent,
  'URL-encoded, small letters': (text) =>
    encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  'URL-encoded, each character': (text) => every(text, (code) => `%${code}`),
  'URL-encoded twice': doubled,
  'HTML, named': (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'HTML, by numbers': (text) => every(text, (code) => `&#x${code};`),
  'HTML in JSON, & escaped': (text) => every(text, (code) => `\\u0026#x${code};`),
  base64,
  'base64 of a header': (text) => base64(`Bearer ${text}`),
  'base64 of user and password': (text) => base64(`anna:${text}`),
  'base64 in a text': (text) => base64(`{"key":"${text}","at":1}`),
  'base64 of URLs': (text) => Buffer.from(text).toString('base64url'),
  'base64 with escaped slashes': (text) => base64(`?${text}`).replaceAll('/', '\\/'),
  'base64, URL-encoded': (text) => encodeURIComponent(base64(`??${text}`)),
};
