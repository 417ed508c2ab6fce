import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../../src/core/transport/proxy.ts';

const PROXY = 'http://ann:hush@proxy.example.com:3128';

describe('proxyFor', () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['nothing', 'https://api.example.com', {}, undefined],
    ['https', 'https://api.example.com', { HTTPS_PROXY: PROXY }, 'HTTPS_PROXY'],
    ['small letters first', 'https://api.example.com', { HTTPS_PROXY: 'http://b', https_proxy: PROXY }, 'https_proxy'],
    ['an empty variable', 'https://api.example.com', { HTTPS_PROXY: PROXY, https_proxy: '' }, undefined],
    ['http for https', 'https://api.example.com', { HTTP_PROXY: PROXY }, 'HTTP_PROXY'],
    ['not https for http', 'http://api.example.com', { HTTPS_PROXY: PROXY }, undefined],
    ['this machine', 'http://127.0.0.1:4010', { HTTP_PROXY: PROXY }, undefined],
    ['a name left out', 'https://api.example.com', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.test, example.com' }, undefined],
    ['a part of a name', 'https://myexample.com', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.com' }, 'HTTPS_PROXY'],
    ['a wildcard', 'https://api.example.com', { HTTPS_PROXY: PROXY, NO_PROXY: '*.example.com' }, undefined],
    ['everything left out', 'https://api.example.com', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, undefined],
    ['an IPv6 address', 'https://[fd00::1]', { HTTPS_PROXY: PROXY, NO_PROXY: 'fd00::1' }, undefined],
    ['one in brackets', 'https://[fd00::1]:8443', { HTTPS_PROXY: PROXY, NO_PROXY: '[fd00::1]:8443' }, undefined],
    ['another port of one', 'https://[fd00::1]', { HTTPS_PROXY: PROXY, NO_PROXY: '[fd00::1]:8443' }, 'HTTPS_PROXY'],
    ['another port', 'https://api.example.com', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.com:8443' }, 'HTTPS_PROXY'],
    ['the same port', 'https://api.example.com', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.com:443' }, undefined],
  ])('with %s', (_name, address, env, expected) => {
    expect(proxyFor(new URL(address), env)?.variable).toBe(expected);
  });

  it.each([
    ['http://proxy.example.com:3128', 'http://proxy.example.com:3128/'],
    ['proxy.example.com:3128', 'http://proxy.example.com:3128/'],
    ['ann:hush@proxy:1', 'http://ann:hush@proxy:1/'],
    ['socks5://proxy:1', 'socks5://proxy:1'],
  ])('takes %s', (text, expected) => {
    expect(proxyFor(new URL('https://api.example.com'), { https_proxy: text })?.url.href).toBe(expected);
  });

  it.each(['ftp://hush', 'http://', 'hush hush', ':3128', 'mailto:x'])('refuses %j, without repeating it', (text) => {
    const read = () => proxyFor(new URL('https://api.example.com'), { HTTPS_PROXY: text });
    expect(read).toThrow('HTTPS_PROXY is set, but is not the address of a proxy.');
    expect(read).not.toThrow('hush');
  });
});
