/** What is wrong with the address template of a lead, or null. */
export function leadUrlMistake(text: string): string | null {
  const allowed = 'must be an address with {id} in it, such as https://app.example.com/leads/{id}';
  if (!/^https?:\/\/[^\s\\<>"]+$/i.test(text) || !text.includes('{id}')) return allowed;
  const address = text.replaceAll('{id}', 'id');
  if (!URL.canParse(address)) return allowed;
  const { username, password } = new URL(address);
  if (username !== '' || password !== '') {
    return 'must not contain a user name or a password: it is mailed to every recipient';
  }
  // The id is opaque text of the service: in the host it would choose the server.
  return new URL(text.replaceAll('{id}', 'x.invalid')).host === new URL(address).host ? null : allowed;
}
