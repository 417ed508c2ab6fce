import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';

/** Values that none of the headers may have, each in a request of its own. */
const NEVER = ['', 'a b', 'a\tb', '"><script>', 'evil.example/path', 'a@b', '?', 'a:b:c:d', '%0d%0aset-cookie:x', 'é'];

describe('the host of a request', () => {
  const service = sharedService(bareRecords);
  let port: number;
  beforeAll(async () => {
    port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(() => service.app.close());

  /** Status of a request with these lines, as it goes over the connection. */
  const statusOf = (...lines: readonly string[]) => answerTo('GET /healthz HTTP/1.1', lines);

  async function answerTo(requestLine: string, lines: readonly string[]): Promise<number> {
    const socket = connect(port, '127.0.0.1');
    socket.end(`${requestLine}\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`, 'latin1');
    return Number((await text(socket)).slice(9, 12));
  }

  it.each([
    ['once', ['Host: a'], 200],
    ['with a port', ['host: 127.0.0.1:4010'], 200],
    ['as an IPv6 address', ['host: [::1]:4010'], 200],
    ['not at all', ['x: a'], 400],
    ['twice', ['Host: a', 'Host: b'], 400],
    ['twice the same', ['Host: a', 'Host: a'], 400],
    ['twice in other letters, with others between', ['Host: a', 'x: y', 'hOsT: b'], 400],
    ['with a second one that is empty', ['Host: a', 'Host:'], 400],
    ['as nothing', ['Host:'], 400],
    ['as spaces', ['Host:   '], 400],
    ['as a port alone', ['Host: :80'], 400],
    ['with an impossible port', ['Host: a:99999'], 400],
  ])('%s', async (_name, lines, status) => {
    expect(await statusOf(...lines)).toBe(status);
  });

  it.each([
    ['HTTP/1.0, which needs none', 'GET /healthz HTTP/1.0', [], 200],
    ['HTTP/1.0, when it is there and no host', 'GET /healthz HTTP/1.0', ['Host:'], 400],
    ['a whole URL, which needs one nevertheless', 'GET http://a/healthz HTTP/1.1', ['Host:'], 400],
  ])('in %s', async (_name, requestLine, lines, status) => {
    expect(await answerTo(requestLine, ['x: a', ...lines])).toBe(status);
  });

  it.each(NEVER.slice(1))('not as %j', async (value) => {
    expect(await statusOf(`Host: ${value}`)).toBe(400);
  });
});

describe('what a proxy in front adds', () => {
  const service = sharedService(bareRecords, { behindProxy: true });
  const linkWith = async (headers: Record<string, string>) => {
    const body = { name: 'x', mimeType: 'PDF', file: { content: PDF } };
    const called = await service.call('POST', '/documents', { body, headers });
    return { called, link: called.status === 201 ? (rowOf(called).storage as { original: string }).original : '' };
  };

  it.each([
    [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'b.example.com' }, 'https://b.example.com/files/'],
    [{ 'x-forwarded-host': 'evil"><script>, [2001:db8::1]:8443' }, 'http://[2001:db8::1]:8443/files/'],
    [{ 'x-forwarded-for': 'whatever a caller writes, 2001:db8::1' }, 'http://'],
  ])('%j counts', async (headers, start) => {
    const { called, link } = await linkWith(headers as Record<string, string>);
    expect([called.status, link.slice(0, start.length)]).toEqual([201, start]);
  });

  it.each(
    ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'].flatMap((name) =>
      [...NEVER, ...(name === 'x-forwarded-host' ? [] : ['b.example.com', 'HTTPS', 'ftp'])].map(
        (value) => [name, value] as const,
      ),
    ),
  )('%s: %j is refused', async (name, value) => {
    for (const sent of [value, `${name === 'x-forwarded-for' ? '192.0.2.1' : 'https'}, ${value}`]) {
      const { called } = await linkWith({ [name]: sent });
      expect([called.status, called.body.errors[0]?.source, called.text.includes('<script')]).toEqual([
        400,
        name,
        false,
      ]);
    }
  });
});
