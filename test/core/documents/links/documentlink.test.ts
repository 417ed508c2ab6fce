import { describe, expect, it } from 'vitest';
import { readLink } from '../../../../src/core/documents/links/documentlink.ts';

describe('a download link', () => {
  it.each([
    ['https anywhere', 'https://files.example.com/a', 'https://api.example.com'],
    ['the API itself', 'http://127.0.0.1:4010/files/a', 'http://127.0.0.1:4010'],
    ['another port of this machine', 'http://127.0.0.1:9000/a', 'http://127.0.0.1:4010'],
    ['another name of this machine', 'http://localhost:9000/a', 'http://[::1]:4010'],
    ['another address of this machine', 'http://127.8.9.1/a', 'http://localhost:4010'],
  ])('is followed to %s', (_name, link, base) => {
    expect(readLink(link, base).href).toBe(link);
  });

  it.each([
    ['plain http to another machine', 'http://files.example.com/a', 'http://127.0.0.1:4010'],
    ['this machine from an API elsewhere', 'http://127.0.0.1:9000/a', 'https://api.example.com'],
    ['the API itself in the clear', 'http://api.example.com/a', 'https://api.example.com'],
    ['this machine from an API in the clear', 'http://127.0.0.1:9000/a', 'http://api.example.com'],
    ['a name that only begins like this machine', 'http://127.0.0.1.example.com/a', 'http://127.0.0.1:4010'],
    ['another protocol', 'ftp://127.0.0.1/a', 'http://127.0.0.1:4010'],
    ['a password', 'http://a:b@127.0.0.1:9000/a', 'http://127.0.0.1:4010'],
    ['no address', 'nonsense', 'http://127.0.0.1:4010'],
  ])('is not followed to %s', (_name, link, base) => {
    expect(() => readLink(link, base)).toThrow(/download link/);
  });
});
