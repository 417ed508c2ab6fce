import { hash } from 'node:crypto';
import { asId } from '../../catalog/fields/numbers.ts';
import { SCOPES } from '../../catalog/scopes.ts';
import type { Rights } from '../tokens/tokens.ts';

/** What an issuer or a certificate says of somebody, by name. */
export type Claims = Readonly<Record<string, unknown>>;

/** The rights that somebody's claims give. */
export type RightsOf = (claims: Claims) => Rights;

type Value = string | number | boolean;

/** A list of the rule's own, or the name of the claim that has it. */
type List<T> = readonly T[] | { readonly claim: string };

interface Rule {
  readonly when: Readonly<Record<string, Value>>;
  readonly organizations: List<string>;
  readonly scopes: List<string>;
  /** Every location when it is not given. */
  readonly locations?: List<number>;
  readonly readOnly?: boolean;
}

/** The rules of a claims file as a function; the texts of its mistakes when it has any (contract §8). */
export function parseRules(text: string): RightsOf | readonly string[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return ['it is not one JSON document'];
  }
  const problems = fileProblems(file);
  if (problems.length > 0) return problems;
  const { rules } = file as { rules: readonly Rule[] };
  return (claims) => {
    const rule = rules.find(({ when }) => Object.entries(when).every(([name, value]) => fits(claims, name, value)));
    return rule === undefined ? NO_RIGHTS : rightsOf(rule, claims);
  };
}

/** What nobody gave any rights: such a caller is known, and may use no organization. */
const NO_RIGHTS: Rights = { organizations: [], scopes: [], locations: [], readOnly: true };

function fits(claims: Claims, name: string, value: Value): boolean {
  return listOf(claims, name).includes(value);
}

/** A claim as a list; one that is no list is a list of one, and one that is missing is empty. */
function listOf(claims: Claims, name: string): readonly unknown[] {
  return Object.hasOwn(claims, name) ? [claims[name]].flat() : [];
}

/** Whatever cannot be understood in a claim is left out, so that it gives less and never more. */
function rightsOf({ organizations, scopes, locations, readOnly = false }: Rule, claims: Claims): Rights {
  const read = (list: List<unknown>) => ('claim' in list ? listOf(claims, list.claim) : list);
  const isText = (value: unknown) => typeof value === 'string';
  // The usual claim `scope` is one text with spaces between its scopes (RFC 9068, 2.2.3).
  const scopeNames = read(scopes).flatMap((value) => (isText(value) ? value.split(' ') : []));
  return {
    organizations: read(organizations).filter(isText),
    scopes: SCOPES.filter((scope) => scopeNames.includes(scope)),
    locations: locations === undefined ? null : read(locations).flatMap((value) => asId(value) ?? []),
    readOnly,
  };
}

const RULE_KEYS = ['when', 'organizations', 'scopes', 'locations', 'readOnly'];

function fileProblems(file: unknown): string[] {
  if (!isObject(file) || !Array.isArray(file.rules)) return ['it must be {"rules": […]}'];
  return [
    ...unknownKeys(file, ['rules'], 'the file'),
    ...file.rules.flatMap((rule: unknown, index) => ruleProblems(rule, `rules[${index}]`)),
  ];
}

function ruleProblems(rule: unknown, at: string): string[] {
  if (!isObject(rule)) return [`${at} must be an object`];
  const problems = unknownKeys(rule, RULE_KEYS, at);
  const { when, organizations, scopes, locations, readOnly } = rule;
  if (!isObject(when) || !Object.values(when).every((value) => /^(?:string|number|boolean)$/.test(typeof value))) {
    problems.push(`${at}.when must be an object of claims, each with one string, number or boolean`);
  }
  const lists = { organizations, scopes, ...('locations' in rule && { locations }) };
  for (const [name, list] of Object.entries(lists)) problems.push(...listProblems(name as ListName, list, at));
  if ('readOnly' in rule && typeof readOnly !== 'boolean') problems.push(`${at}.readOnly must be true or false`);
  return problems;
}

/** What the members of a rule's own lists must be. */
const MEMBERS = {
  organizations: [(value: unknown) => typeof value === 'string' && value !== '', 'ids of organizations'],
  scopes: [(value: unknown) => SCOPES.some((scope) => scope === value), `of the scopes ${SCOPES.join(', ')}`],
  locations: [(value: unknown) => asId(value) !== undefined, 'ids of locations'],
} as const;

type ListName = keyof typeof MEMBERS;

function listProblems(name: ListName, list: unknown, at: string): string[] {
  const [isMember, members] = MEMBERS[name];
  const isOfClaim = isObject(list) && Object.keys(list).join() === 'claim' && typeof list.claim === 'string';
  if (isOfClaim || (Array.isArray(list) && list.every(isMember))) return [];
  return [`${at}.${name} must be a list ${members}, or {"claim": "NAME"}`];
}

/** A mistyped "location" must not open every location. */
function unknownKeys(object: object, known: readonly string[], at: string): string[] {
  const unknown = Object.keys(object).filter((key) => !known.includes(key));
  return unknown.map((key) => `${at} has the unknown key ${JSON.stringify(key)}; it may have ${known.join(', ')}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name that the audit log can hold as one line: 1 to 255 characters, none of them invisible but the space. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u.test(value);
}

/** The id of a grant that no table has: always the same for the same holder, and never that of a token. */
export function grantId(...holder: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(holder), 'hex').slice(0, 32);
}
