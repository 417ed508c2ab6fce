import { CHANGE_OPERATIONS, DELIVERY_OPERATIONS, DOMAIN_TYPES } from '../../catalog/stream/domains.ts';
import { patternProblem } from '../../catalog/stream/patterns.ts';
import { usageFailure } from '../../core/failure.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';

const OPERATIONS: readonly string[] = [...CHANGE_OPERATIONS, ...DELIVERY_OPERATIONS];
const WILD = ['*', '#'];

/** Checks the patterns of `--key` for messages of one organization, or any; throws a Failure (exit 2) for an impossible one. */
export function checkKeys(keys: readonly string[], organization: string | undefined): readonly string[] {
  for (const key of keys) checkKey(key, organization);
  return keys;
}

function checkKey(key: string, organization: string | undefined): void {
  const problem = patternProblem(key);
  if (problem !== undefined) throw refused(problem);
  const segments = key.split('.');
  if (segments.includes('#')) {
    checkLoose(segments, organization, key);
    return;
  }
  if (segments.length !== 4) {
    const meant = DOMAIN_TYPES.includes(key) ? ` Did you mean *.*.${key}.*?` : '';
    const count = segments.length === 1 ? '1 part' : `${segments.length} parts`;
    throw refused(`${key} has ${count} and a routing key has 4, so no message matches it.${meant}`);
  }
  const [first, , domainType, operation] = segments as [string, string, string, string];
  if (organization !== undefined && !WILD.includes(first) && first !== organization) {
    throw refused(otherOrganization(key, organization));
  }
  checkName(domainType, DOMAIN_TYPES, 'domain type');
  checkName(operation, OPERATIONS, 'operation');
}

/** With # a name may stand anywhere, so only what looks like a slip of the pen is refused. */
function checkLoose(segments: readonly string[], organization: string | undefined, key: string): void {
  const known = [...DOMAIN_TYPES, ...OPERATIONS];
  for (const [at, segment] of segments.entries()) {
    if (WILD.includes(segment) || known.includes(segment) || segment === organization) continue;
    const near = nearest(segment, known);
    if (near !== undefined) throw refused(`${key} names ${segment}, which is unknown. Did you mean ${near}?`);
    if (at === 0 && organization !== undefined) throw refused(otherOrganization(key, organization));
  }
}

function otherOrganization(key: string, organization: string): string {
  return `${key} is about another organization than ${organization}, so no message matches it.`;
}

function checkName(name: string, known: readonly string[], what: string): void {
  if (name === '*' || known.includes(name)) return;
  throw refused(`${name} is no ${what} of the stream.${didYouMean(name, known)} These are: ${known.join(', ')}.`);
}

function refused(message: string) {
  return usageFailure(message, {
    source: '--key',
    hint: 'A routing key is organization.location.domainType.operation; * stands for one part, # for any number.',
  });
}
