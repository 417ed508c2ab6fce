/**
 * Headers of every answer: nothing is kept, guessed at, framed, or read by a page of another origin, and an answer that
 * a browser shows runs and loads nothing. `/docs` has a policy of its own.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

/** Told over TLS only: browsers do not go back to plain HTTP for a year. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000',
};
