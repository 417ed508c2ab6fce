import { describe, expect, it } from 'vitest';
import { type ConnectionFlags, readSettings, settingsOf } from '../../../src/core/connection/settings.ts';
import type { Environment } from '../../../src/core/environment.ts';
import { Failure } from '../../../src/core/failure.ts';

const ENV = { MOLAR_URL: 'https://api.example.com', MOLAR_ORGANIZATION: 'org-1' };

function failureOf(flags: ConnectionFlags, env: Environment): Failure {
  try {
    readSettings(flags, env);
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
  throw new Error('No failure');
}

describe('readSettings', () => {
  it.each<[string, ConnectionFlags, Environment, string, string]>([
    ['the environment', {}, ENV, 'https://api.example.com', 'org-1'],
    ['flags before it', { url: 'https://b.example.com', organization: 'o2' }, ENV, 'https://b.example.com', 'o2'],
    ['an empty flag as none', { url: '' }, ENV, 'https://api.example.com', 'org-1'],
    [
      'white space around them as none',
      { organization: ' o2 ' },
      { ...ENV, MOLAR_URL: ' https://c.example.com\r\n' },
      'https://c.example.com',
      'o2',
    ],
    [
      'white space around both variables as none',
      {},
      { MOLAR_URL: 'https://c.example.com ', MOLAR_ORGANIZATION: 'org-2\r' },
      'https://c.example.com',
      'org-2',
    ],
    ['a path', {}, { ...ENV, MOLAR_URL: 'https://example.com/dental//' }, 'https://example.com/dental', 'org-1'],
    [
      'the address of the API itself',
      {},
      { ...ENV, MOLAR_URL: 'https://example.com/api/v1/' },
      'https://example.com',
      'org-1',
    ],
    ['http to this machine', {}, { ...ENV, MOLAR_URL: 'http://127.0.0.1:4010' }, 'http://127.0.0.1:4010', 'org-1'],
    ['http to ::1', {}, { ...ENV, MOLAR_URL: 'http://[::1]:4010' }, 'http://[::1]:4010', 'org-1'],
    [
      'http when allowed',
      { allowHttp: true },
      { ...ENV, MOLAR_URL: 'http://example.com' },
      'http://example.com',
      'org-1',
    ],
  ])('takes %s', (_name, flags, env, baseUrl, organization) => {
    expect(readSettings(flags, env)).toMatchObject({ baseUrl, organization });
  });

  it.each<[string, ConnectionFlags, Environment, string, string]>([
    ['no address', {}, { MOLAR_ORGANIZATION: 'o' }, 'usage.connection', 'MOLAR_URL is not set'],
    ['no organization', {}, { MOLAR_URL: 'https://example.com' }, 'usage.connection', 'MOLAR_ORGANIZATION is not set'],
    ['an organization that is none', { organization: 'a b' }, ENV, 'usage.invalid', '--organization must be'],
    ['text', { url: 'example.com' }, ENV, 'usage.invalid', '--url is not a URL'],
    ['another protocol', { url: 'ftp://example.com' }, ENV, 'usage.invalid', '--url must begin with'],
    ['a query', { url: 'https://example.com/?a=1' }, ENV, 'usage.invalid', '--url must not have a query'],
    ['plain http', { url: 'http://example.com' }, ENV, 'usage.insecure', 'plain http://'],
    [
      'plain http for tokens',
      {},
      { ...ENV, MOLAR_TOKEN_URL: 'http://example.com/t' },
      'usage.insecure',
      'MOLAR_TOKEN_URL',
    ],
  ])('refuses %s', (_name, flags, env, code, message) => {
    expect(failureOf(flags, env)).toMatchObject({ code, exitCode: 2, message: expect.stringContaining(message) });
  });

  it('takes plain http of a profile that allows it for the address of that profile alone', () => {
    const url = 'http://intern.example.com';
    const profile = { url, organization: 'o', allowHttp: true, secret: { kind: 'token', token: 't' } } as const;
    const chosen = { name: 'intern', profile, source: 'config', path: 'config.json' } as const;
    expect(settingsOf({}, {}, chosen).baseUrl).toBe(url);
    for (const [flags, env] of [
      [{ url: 'http://example.com' }, {}],
      [{}, { MOLAR_URL: 'http://example.com' }],
    ] as const)
      expect(() => settingsOf(flags, env, chosen)).toThrow('plain http://');
    // The secret would go to an address that nobody allowed.
    const elsewhere = { MOLAR_TOKEN_URL: 'http://login.example.com/t' };
    expect(() => settingsOf({}, elsewhere, chosen)).toThrow('MOLAR_TOKEN_URL');
    expect(settingsOf({ allowHttp: true }, elsewhere, chosen).tokenUrl).toBe(elsewhere.MOLAR_TOKEN_URL);
  });

  it('does not repeat a password', () => {
    const failure = failureOf({ url: 'https://ann:hunter2@example.com' }, ENV);
    expect(failure.message).toBe('--url must not hold a user name or password.');
    expect(JSON.stringify(failure)).not.toContain('hunter2');
  });
});
