import { readSettings } from '../../core/connection/settings.ts';
import type { Query } from '../../core/transport/client.ts';
import type { Context } from '../context.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import type { FlagValues } from '../flags/values.ts';

/** A query as it is sent, without the question mark; undefined values are left out. */
export function queryText(query: Iterable<readonly [name: string, value: Query[string]]>): string {
  const pairs = [...query].filter(([, value]) => value !== undefined);
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join('&');
}

/** The request of a write as JSON, without token and idempotency key; it needs the address and the organization only. */
export function dryRunText(
  flags: FlagValues,
  context: Context,
  request: { readonly method: string; readonly path: string; readonly query?: string; readonly body?: unknown },
): string {
  const { baseUrl, organization } = readSettings(readConnectionFlags(flags), context.env);
  const hasBody = request.body !== undefined;
  const described = {
    method: request.method,
    url: baseUrl + request.path + (request.query ? `?${request.query}` : ''),
    headers: {
      Accept: 'application/json',
      Authorization: 'Bearer (removed)',
      'Organization-ID': organization,
      ...(hasBody && { 'Content-Type': 'application/json' }),
      ...(request.method === 'POST' && { 'Idempotency-Key': '(made for each run)' }),
    },
    ...(hasBody && { body: request.body }),
  };
  return `${JSON.stringify(described, null, 2)}\n`;
}
