import { describe, expect, it } from 'vitest';
import { type Claims, isName, parseRules } from '../../../src/server/signin/rules.ts';
import type { Rights } from '../../../src/server/tokens/tokens.ts';

function rightsBy(rules: readonly unknown[], claims: Claims): Rights {
  const parsed = parseRules(JSON.stringify({ rules }));
  if (typeof parsed !== 'function') throw new Error(parsed.join());
  return parsed(claims);
}

function problemsOf(text: string): readonly string[] {
  const parsed = parseRules(text);
  return typeof parsed === 'function' ? [] : parsed;
}

const NOTHING = { organizations: [], scopes: [], locations: [], readOnly: true };
const own = { organizations: ['a'], scopes: ['model:read'] };
const OWN = { ...own, locations: null, readOnly: false };

describe('a rule fits', () => {
  it.each<[unknown, Claims, boolean]>([
    [{ role: 'dentist' }, { role: 'dentist' }, true],
    [{ role: 'dentist' }, { role: ['admin', 'dentist'] }, true],
    [{ role: 'dentist' }, { role: 'dentists' }, false],
    [{ role: 'dentist' }, { role: 'Dentist' }, false],
    [{ role: 'dentist' }, { role: 'admin dentist' }, false],
    [{ role: 'dentist' }, { role: [['dentist']] }, false],
    [{ role: 'dentist' }, { role: { dentist: true } }, false],
    [{ role: 'dentist' }, {}, false],
    [{ role: 'dentist', site: 'east' }, { role: 'dentist', site: 'east' }, true],
    [{ role: 'dentist', site: 'east' }, { role: 'dentist' }, false],
    [{ level: 5 }, { level: 5 }, true],
    [{ level: 5 }, { level: '5' }, false],
    [{ verified: true }, { verified: true }, true],
    [{ verified: true }, { verified: 'true' }, false],
    [{ verified: true }, { verified: 1 }, false],
    [{}, {}, true],
    // Names that every object has are no claims.
    [{ constructor: 'x' }, {}, false],
    [{ toString: 'x' }, {}, false],
  ])('%j, claims %j: %s', (when, claims, fits) => {
    expect(rightsBy([{ when, ...own }], claims)).toEqual(fits ? OWN : NOTHING);
  });

  it('and the first one that does counts alone, though a later one gives more', () => {
    const rules = [
      { when: { role: 'none' }, organizations: ['z'], scopes: ['model:write'] },
      { when: { role: 'desk' }, organizations: ['a'], scopes: ['practice:read'], locations: [5], readOnly: true },
      { when: {}, organizations: ['a', 'b'], scopes: ['model:read', 'model:write'] },
    ];
    const desk = { organizations: ['a'], scopes: ['practice:read'], locations: [5], readOnly: true };
    expect(rightsBy(rules, { role: 'desk' })).toEqual(desk);
  });

  it('nowhere: nothing is given', () => {
    expect(rightsBy([], { role: 'dentist' })).toEqual(NOTHING);
  });
});

describe('what a claim gives', () => {
  const given = (claims: Claims) =>
    rightsBy(
      [{ when: {}, organizations: { claim: 'orgs' }, scopes: { claim: 'scope' }, locations: { claim: 'sites' } }],
      claims,
    );

  it.each<[string, Claims, Partial<Rights>]>([
    [
      'lists',
      { orgs: ['a', 'b'], scope: ['model:read'], sites: [5, 6] },
      { organizations: ['a', 'b'], locations: [5, 6] },
    ],
    ['one value each', { orgs: 'a', scope: 'model:read', sites: 5 }, { organizations: ['a'], locations: [5] }],
    ['a text of scopes', { scope: 'openid model:read  model:write' }, { scopes: ['model:read', 'model:write'] }],
    ['ids as texts, as many issuers send them', { sites: ['70000000000005'] }, { locations: [70_000_000_000_005] }],
  ])('%s', (_name, claims, rights) => {
    expect(given(claims)).toMatchObject(rights);
  });

  it.each<[string, Claims]>([
    ['nothing', {}],
    ['null', { orgs: null, scope: null, sites: null }],
    ['empty lists', { orgs: [], scope: [], sites: [] }],
    ['objects', { orgs: { a: 1 }, scope: { 'model:read': 1 }, sites: { 5: 5 } }],
    ['lists in lists', { orgs: [['a']], scope: [['model:read']], sites: [[5]] }],
    ['true', { orgs: true, scope: true, sites: true }],
    ['words for everything', { scope: ['*', 'ALL', 'model:*', 'MODEL:READ'], sites: ['ALL', '*', 'all', ''] }],
    ['numbers that are no ids', { sites: [0, -5, 5.5, 1e300, '5.0', '0x5', '5 6', 'NaN'] }],
  ])('%s gives nothing', (_name, claims) => {
    expect(given(claims)).toEqual({ organizations: [], scopes: [], locations: [], readOnly: false });
  });

  it('is what can be understood of it', () => {
    expect(given({ orgs: ['a', 7, null], scope: ['model:read', 'model:delete'], sites: [5, 'east', null] })).toEqual({
      organizations: ['a'],
      scopes: ['model:read'],
      locations: [5],
      readOnly: false,
    });
  });
});

it('a rule with an empty list of locations gives none of them, and every one without that list', () => {
  expect(rightsBy([{ when: {}, ...own, locations: [] }], {}).locations).toEqual([]);
  expect(rightsBy([{ when: {}, ...own }], {}).locations).toBeNull();
});

describe('a claims file is refused', () => {
  const file = (rule: unknown) => JSON.stringify({ rules: [{ when: {}, ...own }, rule] });

  it.each<[string, string, RegExp]>([
    ['text', 'rules', /not one JSON/],
    ['a list', '[]', /\{"rules": \[…\]\}/],
    ['null', 'null', /\{"rules": \[…\]\}/],
    ['no rules', '{}', /\{"rules": \[…\]\}/],
    ['rules by name', '{"rules": {}}', /\{"rules": \[…\]\}/],
    ['another key beside them', '{"rules": [], "default": {}}', /"default"/],
    ['a rule that is none', file(5), /rules\[1\] must be an object/],
    ['no condition', file(own), /rules\[1\]\.when/],
    ['a condition on a list', file({ when: { role: ['a'] }, ...own }), /rules\[1\]\.when/],
    ['a condition on null', file({ when: { role: null }, ...own }), /rules\[1\]\.when/],
    ['no organizations', file({ when: {}, scopes: [] }), /rules\[1\]\.organizations/],
    ['an organization without a name', file({ when: {}, ...own, organizations: [''] }), /rules\[1\]\.organizations/],
    ['no scopes', file({ when: {}, organizations: [] }), /rules\[1\]\.scopes/],
    ['one organization', file({ when: {}, ...own, organizations: 'a' }), /rules\[1\]\.organizations/],
    [
      'a scope that does not exist',
      file({ when: {}, ...own, scopes: ['model:all'] }),
      /scopes model:read, model:write/,
    ],
    ['locations that are null', file({ when: {}, ...own, locations: null }), /rules\[1\]\.locations/],
    ['all locations in a word', file({ when: {}, ...own, locations: ['ALL'] }), /rules\[1\]\.locations/],
    ['a claim and more', file({ when: {}, ...own, locations: { claim: 'a', or: [] } }), /rules\[1\]\.locations/],
    ['a claim without a name', file({ when: {}, ...own, locations: { claim: 5 } }), /rules\[1\]\.locations/],
    ['locations mistyped', file({ when: {}, ...own, location: [5] }), /unknown key "location"/],
    ['readOnly as a text', file({ when: {}, ...own, readOnly: 'true' }), /rules\[1\]\.readOnly/],
  ])('that has %s', (_name, text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(problem)]);
  });

  it('with all its mistakes at once', () => {
    expect(problemsOf('{"rules": [{"when": {}}, {"organizations": [], "scopes": [], "readOnly": 1}]}')).toHaveLength(4);
  });
});

it.each<[unknown, boolean]>([
  ['a'.repeat(255), true],
  ['a'.repeat(256), false],
  ['Zoë 王|auth0', true],
  ['', false],
  ['a\u2028b', false],
  ['a\u2029b', false],
  [5, false],
])('whether %j is a name: %s', (value, is) => {
  expect(isName(value)).toBe(is);
});
