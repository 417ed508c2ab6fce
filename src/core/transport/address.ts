import { localFailure } from '../failure.ts';

/** A host name without the brackets around an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether a host name stands for this machine itself: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const name = bareHost(host.toLowerCase());
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Refuses to send `what` to another machine unencrypted: a Failure (exit 2) that names `source`, the flag at fault. */
export function refuseUnencrypted(
  { protocol, host, hostname }: URL,
  { source, what, hint }: { readonly source: string; readonly what: string; readonly hint?: string },
): void {
  if (!/^(?:http|amqp):$/.test(protocol) || isLoopback(hostname)) return;
  const message = `${source} is plain ${protocol}//, which would send ${what} unencrypted to ${host}.`;
  throw localFailure('usage.insecure', message, { source, ...(hint !== undefined && { hint }) });
}
