/** The last response of the server, whatever it was. */
export interface LastResponse {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** UTC milliseconds at which it arrived. */
  readonly at: number;
}

/** Seconds that this computer's clock is ahead of the server's, negative when behind; undefined where unknown. */
export function clockAhead({ headers, at }: LastResponse): number | undefined {
  const there = Date.parse(headers.date ?? '');
  return Number.isNaN(there) ? undefined : Math.round((at - there) / 1000);
}

/** Requests that are left now, and how many there are at most; undefined where the server does not report it. */
export interface RateLeft {
  readonly left: number;
  readonly limit: number | undefined;
}

/** Reads `RateLimit-*` (D43), `X-RateLimit-*`, and `RateLimit` in one header as later drafts of the standard. */
export function rateLeft({ headers }: LastResponse): RateLeft | undefined {
  const combined = headers.ratelimit ?? '';
  const find = (name: string, short: string) => {
    const text = headers[`ratelimit-${name}`] ?? headers[`x-ratelimit-${name}`];
    return wholeNumber(text ?? new RegExp(`(?:^|[\\s,;])(?:${name}|${short})=(\\d+)`).exec(combined)?.[1]);
  };
  const left = find('remaining', 'r');
  return left === undefined ? undefined : { left, limit: find('limit', 'q') };
}

/** The number that a header begins with: policies may follow it. */
function wholeNumber(text: string | undefined): number | undefined {
  const digits = /^\s*(\d{1,15})\b/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
