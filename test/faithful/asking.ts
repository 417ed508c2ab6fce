import type { Faithful } from './service.ts';

/** What a bare HTTP client got. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data: unknown;
    readonly errors?: readonly unknown[];
    readonly warnings?: readonly unknown[];
    readonly meta?: { readonly pagination: Readonly<Record<string, unknown>> };
  };
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as any HTTP client would; `filter` is the query's filter. */
export async function ask(service: Faithful, path: string, filter?: string, asked: Asked = {}): Promise<Got> {
  const joiner = path.includes('?') ? '&' : '?';
  const query = filter === undefined ? '' : `${joiner}filter=${encodeURIComponent(filter)}`;
  const response = await fetch(`${service.url}/api/v1${path}${query}`, {
    method: asked.method ?? 'GET',
    headers: {
      authorization: `Bearer ${service.token}`,
      'organization-id': service.organization,
      ...asked.headers,
    },
    ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Got['body'] };
}

/** The records on a page. */
export function rowsOf(got: Got): readonly Readonly<Record<string, unknown>>[] {
  if (got.status !== 200) throw new Error(`${got.status}: ${JSON.stringify(got.body)}`);
  return got.body.data as readonly Readonly<Record<string, unknown>>[];
}

/** The ids on a page, as texts. */
export function idsOf(got: Got): string[] {
  return rowsOf(got).map(({ id }) => String(id));
}
