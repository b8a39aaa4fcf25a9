import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './guess-limit.ts';

/** Connections at once, … */
const most = 500;
/** … and those of one address that have not asked anything. */
const mostSilent = 100;

/**
 * Keeps a place free for whoever asks: when there are too many connections, in all or from one address, the oldest that
 * has no whole request is closed. Whoever opens them and says nothing, or only half, keeps nobody away.
 */
export function limitConnections(server: Server): void {
  /** The request under way on each; null: none. The one that has been silent for longest first. */
  const requests = new Map<Socket, IncomingMessage | null>();
  const isSilent = (socket: Socket): boolean => requests.get(socket)?.complete !== true;
  const closeOldest = (sockets: readonly Socket[], instead?: Socket): void => {
    const socket = sockets.find(isSilent) ?? instead;
    if (socket === undefined) return;
    requests.delete(socket);
    socket.destroy();
  };
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const own = [...requests.keys()].filter((one) => networkOf(one.remoteAddress ?? '') === network);
    if (own.filter(isSilent).length >= mostSilent) closeOldest(own);
    if (requests.size >= most) closeOldest([...requests.keys()], socket);
    if (socket.destroyed) return;
    requests.set(socket, null);
    socket.once('close', () => requests.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    requests.set(socket, request);
    response.once('close', () => {
      // It goes to the end of the line.
      if (requests.delete(socket) && !socket.destroyed) requests.set(socket, null);
    });
  });
}
