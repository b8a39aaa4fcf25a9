/**
 * Says that it is a Postgres on the port of 127.0.0.1 in its first argument, requests the password in clear text, and prints what it
 * gets. With `md5` as its second argument it requests an MD5 of it.
 */
import { createServer } from 'node:net';

const [, , port = '0', method = 'clear-text'] = process.argv;
/** AuthenticationCleartextPassword and AuthenticationMD5Password of the protocol. */
const requests = {
  'clear-text': Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]),
  md5: Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]),
};
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write(requests[method === 'md5' ? 'md5' : 'clear-text']);
    socket.on('data', (answer) => {
      console.log(`answer ${answer.toString('latin1')}`);
      socket.destroy();
    });
  });
});
// The port that was asked for may be another program's.
server.on('error', () => console.log('listening nowhere'));
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening ${typeof address === 'object' && address !== null ? address.port : ''}`);
});
process.stdin.once('end', () => process.exit()).resume();
