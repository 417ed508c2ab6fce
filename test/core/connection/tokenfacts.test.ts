import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factsInToken, readScopes } from '../../../src/core/connection/tokenfacts.ts';

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (payload: unknown, head: unknown = { alg: 'RS256', typ: 'JWT' }) => `${part(head)}.${part(payload)}.c2ln`;
const NOTHING = { expiresAt: undefined, scopes: undefined };

describe('factsInToken', () => {
  it.each<[string, string, ReturnType<typeof factsInToken>]>([
    ['exp', jwt({ exp: 1_800_000_000 }), { expiresAt: 1_800_000_000_000, scopes: undefined }],
    [
      'scope as a text',
      jwt({ scope: 'model:read model:write' }),
      { ...NOTHING, scopes: ['model:read', 'model:write'] },
    ],
    ['scp as a list', jwt({ scp: ['model:read'] }), { ...NOTHING, scopes: ['model:read'] }],
    ['scopes as a list', jwt({ scopes: [] }), { ...NOTHING, scopes: [] }],
    ['an exp that is no number', jwt({ exp: '1800000000' }), NOTHING],
    ['an exp beyond all time', jwt({ exp: 1e300 }), NOTHING],
    ['a scope that is no text', jwt({ scope: 5, scp: [5] }), NOTHING],
    ['letters beyond ASCII', jwt({ name: 'Zoë ☃', exp: 1 }), { expiresAt: 1000, scopes: undefined }],
    ['a head without alg', jwt({ exp: 1 }, { typ: 'JWT' }), NOTHING],
    ['a list', jwt([1]), NOTHING],
    ['two parts', `${part({ alg: 'x' })}.${part({ exp: 1 })}`, NOTHING],
    ['a plain token', 'molar_EbVHGNG2djCf', NOTHING],
    ['dots in a plain token', 'a.b.c', NOTHING],
  ])('reads %s', (_name, token, expected) => {
    expect(factsInToken(token)).toEqual(expected);
  });

  it('takes any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.anything(), (text, value) => {
        factsInToken(text);
        const { expiresAt } = factsInToken(jwt({ exp: value }));
        expect(expiresAt === undefined || !Number.isNaN(new Date(expiresAt).getTime())).toBe(true);
      }),
    );
  });
});

describe('readScopes', () => {
  it.each([
    ['model:read, practice:read', ['model:read', 'practice:read']],
    ['  ', []],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [undefined, undefined],
    [{}, undefined],
  ])('of %j are %j', (value, expected) => {
    expect(readScopes(value)).toEqual(expected);
  });
});
