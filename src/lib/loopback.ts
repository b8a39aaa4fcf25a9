import { BlockList, isIPv4, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine reaches the address (an IP address, in brackets or not, or `localhost`). */
export function isLoopback(name: string): boolean {
  const host = name.replaceAll(/[[\]]/g, '');
  if (isIPv4(host)) return loopback.check(host, 'ipv4');
  return host.toLowerCase() === 'localhost' || (isIPv6(host) && loopback.check(host, 'ipv6'));
}

/** Whether no other machine is between us and this host, which may be the folder of a socket. */
export function isThisMachine(host: string): boolean {
  return host.startsWith('/') || isLoopback(host);
}
