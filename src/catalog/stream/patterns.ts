/** Longest pattern: what a topic exchange takes as a binding key, in bytes. */
export const MAX_PATTERN_BYTES = 255;

/** Whether a routing key matches the requested patterns. */
export type RoutingKeyMatch = (routingKey: string) => boolean;

/** What is wrong with a pattern, or undefined. Every text without an empty segment is a pattern. */
export function patternProblem(pattern: string): string | undefined {
  if (new TextEncoder().encode(pattern).length > MAX_PATTERN_BYTES) {
    return `A routing key pattern has at most ${MAX_PATTERN_BYTES} bytes.`;
  }
  if (!pattern.split('.').includes('')) return undefined;
  return `A routing key pattern is segments joined by dots, none of them empty: * stands for one, # for any number. "${pattern}" has an empty one.`;
}

/**
 * The match of topic patterns, as a topic exchange makes it (D42): `*` stands for exactly one segment, `#` for any
 * number of them, none included; any other segment for itself. A key that fits one of the patterns fits; without
 * patterns every key does.
 */
export function matchPatterns(patterns: readonly string[]): RoutingKeyMatch {
  if (patterns.length === 0 || patterns.includes('#')) return () => true;
  const split = patterns.map((pattern) => pattern.split('.'));
  return (routingKey) => {
    const key = routingKey.split('.');
    return split.some((pattern) => fits(pattern, key));
  };
}

/** Walks both sides once; on a mismatch the last `#` takes one segment more, which no earlier one could do better. */
function fits(pattern: readonly string[], key: readonly string[]): boolean {
  let at = 0;
  let hash = -1;
  let taken = 0;
  for (let place = 0; place < key.length; ) {
    const segment = pattern[at];
    if (segment === '#') {
      hash = at++;
      taken = place;
    } else if (segment !== undefined && (segment === '*' || segment === key[place])) {
      at++;
      place++;
    } else if (hash >= 0) {
      at = hash + 1;
      place = ++taken;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((segment) => segment === '#');
}
