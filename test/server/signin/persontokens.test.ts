import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENTS } from '../../support/ids.ts';
import { type IssuerKey, issuerKey, maced, part, signed } from '../../support/issuer.ts';
import { type SignedIn, signedIn } from './signedin.ts';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** One for all algorithms: to make one takes as long as many tests. */
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = Object.fromEntries(
  ALGORITHMS.map((alg) => [alg, /^[RP]S/.test(alg) ? issuerKey(alg, {}, rsa) : issuerKey(alg)]),
);
const key = (alg: string) => keys[alg] as IssuerKey;
/** For every RSA algorithm, as many issuers publish them. */
const anyRsa = issuerKey('RS256', { alg: undefined }, rsa);
const foreign = issuerKey('ES256');
/** Two different keys of one id. */
const twins = [issuerKey('ES256', { kid: 'twin' }), issuerKey('ES256', { kid: 'twin' })] as const;
const encrypting = issuerKey('RS256', { use: 'enc' });
const wrapping = issuerKey('RS256', { use: undefined, key_ops: ['wrapKey'] });
const short = (() => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256' } };
})();
/** A secret that an issuer should not have published. */
const secret = { privateKey: foreign.privateKey, jwk: { kty: 'oct', k: part('published'), kid: 'secret' } };

let open: SignedIn;

beforeAll(async () => {
  const published = [...Object.values(keys), anyRsa, ...twins, encrypting, wrapping, short, secret];
  open = await signedIn({ keys: published });
});
afterAll(() => open.close());

/** A token of a dentist that is good but for what is given. */
function token(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, by = key('ES256')): string {
  const { alg = 'RS256', kid } = by.jwk;
  const all = { alg, kid, typ: 'JWT', ...header };
  return signed(by, all, open.claims(claims), String(alg));
}

const now = () => Math.floor(open.clock.now() / 1000);

/** The claims with one of them written as JSON that no serializer makes. */
function rawClaims(text: string): string {
  const { exp: _exp, ...rest } = open.claims();
  return JSON.stringify(rest).replace(/\}$/, `,${text}}`);
}

/** An ES256 token with claims that are a text. */
function rawToken(claims: string): string {
  return signed(key('ES256'), { alg: 'ES256', kid: key('ES256').jwk.kid }, claims);
}

const publicPem = (of: IssuerKey) => createPublicKey(of.privateKey).export({ format: 'pem', type: 'spki' });

describe('a token of the issuer is taken', () => {
  it.each(ALGORITHMS)('signed by %s', async (alg) => {
    expect(await open.status(token({}, {}, key(alg)))).toBe(200);
  });

  it.each<[string, () => string]>([
    ['with its audience in a list', () => token({ aud: ['other', 'https://molar.practice.example'] })],
    ['of a key that says no algorithm', () => token({}, {}, anyRsa)],
    ['of the first of two keys of one id', () => token({}, {}, twins[0])],
    ['of the second of two keys of one id', () => token({}, {}, twins[1])],
    ['that does not name its key', () => token({}, { kid: undefined })],
    ['without a type', () => token({}, { typ: undefined })],
    ['of the type of access tokens', () => token({}, { typ: 'at+jwt' })],
    ['of that type in full', () => token({}, { typ: 'application/AT+JWT' })],
    ['without iat', () => token({ iat: undefined })],
    ['a minute before it begins', () => token({ nbf: now() + 60 })],
    ['a minute before it was made', () => token({ iat: now() + 60 })],
    ['less than a minute after it ended', () => token({ exp: now() - 59 })],
    ['of a subject with letters of every kind', () => token({ sub: 'Zoë 王|auth0' })],
    ['with a key of its own beside the name of the true one', () => token({}, { jwk: foreign.jwk })],
    ['of two kilobytes', () => token({ groups: Array.from({ length: 150 }, (_, n) => `group-${n}`) })],
  ])('%s', async (_name, make) => {
    expect(await open.status(make())).toBe(200);
  });
});

describe('a hostile token is refused', () => {
  const es = () => key('ES256').jwk.kid;
  it.each<[string, () => string]>([
    ['unsigned: alg none', () => `${part({ alg: 'none' })}.${part(open.claims())}.`],
    ['unsigned: alg None, and the id of a key', () => `${part({ alg: 'None', kid: es() })}.${part(open.claims())}.`],
    ['alg none with a true signature', () => token({}, { alg: 'none' })],
    ['without a signature', () => token().replace(/[^.]*$/, '')],
    ['with a signature of zeros', () => token().replace(/[^.]*$/, Buffer.alloc(64).toString('base64url'))],
    ['with a signature in the form of DER', () => token().replace(/[^.]*$/, part('0D\u0002 AAAA'))],
    ['a MAC with the public key as its secret, PEM', () => hs(publicPem(key('RS256')), key('RS256'))],
    ['a MAC with the public key as its secret, JWK', () => hs(JSON.stringify(key('RS256').jwk), key('RS256'))],
    ['a MAC with a secret that is published', () => hs('published', secret)],
    ['signed by RSA, with ES256 and the id of an RSA key', () => token({}, { alg: 'ES256' }, key('RS256'))],
    ['signed by RSA, with ES256 and the id of an EC key', () => token({}, { alg: 'ES256', kid: es() }, key('RS256'))],
    ['PS256 of a key for RS256', () => psOfRs()],
    ['ES256 with the id of a key of P-384', () => token({}, { kid: key('ES384').jwk.kid })],
    ['ES256K', () => token({}, { alg: 'ES256K' })],
    ['an algorithm in lower case', () => token({}, { alg: 'es256' })],
    ['an algorithm in a list', () => token({}, { alg: ['ES256'] })],
    ['without an algorithm', () => token({}, { alg: undefined })],
    ['signed by another key under the id of a true one', () => token({}, { kid: es() }, foreign)],
    ['signed by the key that it brings along', () => token({}, { jwk: foreign.jwk, kid: es() }, foreign)],
    ['that says where its key is', () => token({}, { jku: 'http://127.0.0.1:1/keys', kid: es() }, foreign)],
    ['of an unknown key', () => token({}, {}, foreign)],
    ['of a key whose id is a number', () => token({}, { kid: 5 })],
    ['of a key for encryption', () => token({}, {}, encrypting)],
    ['of a key for wrapping keys', () => token({}, { alg: 'RS256' }, wrapping)],
    ['of a key of 1024 bits', () => token({}, {}, short)],
    ['with crit', () => token({}, { crit: ['x'], x: 1 })],
    ['with an empty crit', () => token({}, { crit: [] })],
    ['with a body that is not encoded', () => token({}, { crit: ['b64'], b64: false })],
    ['made to end a session', () => token({}, { typ: 'logout+jwt' })],
    ['made to prove a key', () => token({}, { typ: 'dpop+jwt' })],
    ['of a type that is no text', () => token({}, { typ: ['JWT'] })],
    ['that has expired', () => token({ exp: now() - 60 })],
    ['without exp', () => token({ exp: undefined })],
    ['with exp as a text', () => token({ exp: String(now() + 300) })],
    ['with exp null', () => token({ exp: null })],
    ['with exp in a list', () => token({ exp: [now() + 300] })],
    ['that never ends', () => rawToken(rawClaims('"exp":1e999'))],
    ['that ends after all time', () => rawToken(rawClaims('"exp":8640000000001'))],
    ['with nbf in the future', () => token({ nbf: now() + 61 })],
    ['with nbf as a text', () => token({ nbf: '0' })],
    ['with iat in the future', () => token({ iat: now() + 62 })],
    ['with iat as a text', () => token({ iat: 'now' })],
    ['for another audience', () => token({ aud: 'other' })],
    ['for an audience that begins like it', () => token({ aud: 'https://molar.practice.example.evil' })],
    ['without an audience', () => token({ aud: undefined })],
    ['with an empty list of audiences', () => token({ aud: [] })],
    ['with its audience in a list in a list', () => token({ aud: [['https://molar.practice.example']] })],
    ['with its audience in an object', () => token({ aud: { 0: 'https://molar.practice.example' } })],
    ['of another issuer', () => token({ iss: 'https://evil.example' })],
    ['of the issuer and a slash', () => token({ iss: `${open.issuer.url}/` })],
    ['of the issuer in a list', () => token({ iss: [open.issuer.url] })],
    ['without an issuer', () => token({ iss: undefined })],
    ['without sub', () => token({ sub: undefined })],
    ['with an empty sub', () => token({ sub: '' })],
    ['with sub as a number', () => token({ sub: 5 })],
    ['with sub as an object', () => token({ sub: { toString: 'ann' } })],
    ['with a line break in sub', () => token({ sub: 'ann\nperson bob' })],
    ['with NUL in sub', () => token({ sub: 'ann\u0000' })],
    ['with half a character in sub', () => rawToken(rawClaims(`"exp":${now() + 300},"sub":"ann\\ud800"`))],
    ['with text that turns around in sub', () => token({ sub: 'ann\u202e' })],
    ['with a very long sub', () => token({ sub: 'a'.repeat(256) })],
    ['whose claims are a list', () => rawToken(JSON.stringify([open.claims()]))],
    ['whose claims are no JSON', () => rawToken('claims')],
    ['whose claims are no UTF-8', () => changed(token(), 1, Buffer.from([0xff, 0xfe]).toString('base64url'))],
    ['whose header is no JSON', () => changed(token(), 0, part('header'))],
    ['with other claims under a true signature', () => changed(token(), 1, part(open.claims({ sub: 'bob' })))],
    ['nested very deeply', () => rawToken(rawClaims(`"a":${'['.repeat(15_000)}${']'.repeat(15_000)}`))],
    ['in five parts', () => `${token()}.a.b`],
    ['in two parts', () => token().replace(/\.[^.]*$/, '')],
    ['with white space in its end', () => `${token()}.`],
    ['in the JSON form', () => part({ payload: part(open.claims()), protected: part({ alg: 'ES256' }) })],
  ])('%s', async (_name, make) => {
    const { status, body } = await open.service.call('GET', `/patients/${PATIENTS.ann}`, { token: make() });
    expect({ status, data: body.data }).toEqual({ status: 401, data: null });
  });

  function hs(by: string | Buffer, of: IssuerKey): string {
    return maced(by, { alg: 'HS256', kid: of.jwk.kid }, open.claims());
  }

  function psOfRs(): string {
    return signed(key('RS256'), { alg: 'PS256', kid: key('RS256').jwk.kid }, open.claims());
  }

  function changed(text: string, at: number, to: string): string {
    return text
      .split('.')
      .map((each, index) => (index === at ? to : each))
      .join('.');
  }
});

it('what is wrong with a token is told by name, and that it has expired by the code for that', async () => {
  const problemOf = async (claims: Record<string, unknown>) => {
    const { body } = await open.service.call('GET', `/patients/${PATIENTS.ann}`, { token: token(claims) });
    return `${body.errors[0]?.code} ${body.errors[0]?.description}`;
  };
  expect(await problemOf({ exp: now() - 60 })).toMatch(/^auth\.token_expired /);
  expect(await problemOf({ aud: 'other' })).toMatch(/^auth\.token_unknown .*"aud"/);
  expect(await problemOf({ sub: '' })).toMatch(/^auth\.token_unknown .*"sub"/);
});
