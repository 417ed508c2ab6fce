/** Where the bearer token comes from. */
export interface TokenSource {
  /** The token to send now; may have to fetch it. */
  readonly token: (signal?: AbortSignal) => Promise<string>;
  /** Called after a 401 for `token`: forgets it and says whether asking again can give another one. */
  readonly renew: (token: string) => boolean;
}

/** A token that is what it is: a 401 is final. */
export function staticToken(token: string): TokenSource {
  return { token: () => Promise.resolve(token), renew: () => false };
}
