import { usageFailure } from '../failure.ts';
import { refuseUnencrypted } from '../transport/address.ts';

/** A broker that speaks AMQP 0-9-1. */
export interface Broker {
  /** With user and password: never to be shown. */
  readonly url: string;
  /** Host, port and virtual host, for people. */
  readonly shown: string;
  /** From `?exchange=NAME`, as `molar serve --amqp` takes it. */
  readonly exchange: string | undefined;
}

/** Seconds between heartbeats on a quiet connection; one that misses two is lost. */
const HEARTBEAT = 20;

/** The broker of `--amqp`; `password` goes with a bare user name. Throws a Failure (exit 2) without the text in it. */
export function readBroker(
  text: string,
  { allowHttp, password }: { readonly allowHttp: boolean; readonly password: string | undefined },
): Broker {
  const source = '--amqp';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['amqp:', 'amqps:'].includes(url.protocol) || url.hostname === '') {
    throw usageFailure(`${source} must be the address of a broker, such as amqps://user@broker.example.com/vhost.`, {
      source,
    });
  }
  const hint = 'Use amqps://, or --allow-http if the network in between is yours.';
  if (!allowHttp) refuseUnencrypted(url, { source, what: 'the password and patient data', hint });
  if (url.username !== '' && url.password === '' && password) url.password = encodeURIComponent(password);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT));
  const exchange = url.searchParams.get('exchange') ?? undefined;
  url.searchParams.delete('exchange');
  return { url: url.href, exchange, shown: `${url.host}${url.pathname === '/' ? '' : url.pathname}` };
}
