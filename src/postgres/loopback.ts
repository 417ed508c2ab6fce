import { isIP } from 'node:net';

/** Whether an address, or the host name of a URL, is of this machine alone; IPv4 in IPv6 is IPv4. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true;
  const address = host.replace(/^::ffff:/i, '');
  return isIP(address) === 4 && address.startsWith('127.');
}
