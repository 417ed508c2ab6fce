import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, workplace } from './molar.ts';

/** OWASP API10: another service's answer is not obeyed. */
describe('a server that redirects to another host', () => {
  const asked: string[] = [];
  let place: Awaited<ReturnType<typeof workplace>>;
  let servers: Server[] = [];
  let url = '';

  async function listening(server: Server): Promise<string> {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    servers = [...servers, server];
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  beforeAll(async () => {
    place = await workplace();
    await writeFile(join(place.path, 'body.json'), '{"tagText":"x","isPredefined":false,"tagType":"PAYMENT_TAG"}');
    await writeFile(join(place.path, 'scan.pdf'), '%PDF-1.7\n');
    const trap = await listening(
      createServer((request, response) => {
        asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
        response.end('{"data":[],"warnings":[],"errors":[]}');
      }),
    );
    const statuses = [301, 302, 303, 307, 308];
    let turn = 0;
    url = await listening(
      createServer((request, response) => {
        request.resume();
        const status = statuses[turn++ % statuses.length] ?? 302;
        response.writeHead(status, { location: `${trap}${request.url}`, refresh: `0; url=${trap}/refresh` }).end();
      }),
    );
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    await place.remove();
  });

  test('gets neither the token nor a body there: the command says where it should have gone', async () => {
    const lines = [
      'patients list',
      'transactiontags create --data body.json',
      'documents upload scan.pdf',
      'stream listen --limit 1',
      'api POST /transactiontags --data body.json',
      'whoami',
    ];
    const ran = await Promise.all(lines.map((line) => molarIn(place.path, line.split(' '), connection(url))));
    for (const [at, { code, stderr }] of ran.entries()) {
      expect([lines[at], code]).toEqual([lines[at], expect.toBeOneOf([3, 6, 8])]);
      expect(stderr).toMatch(/redirect/);
    }
    expect(asked).toEqual([]);
  });

  test('gets no client secret there', async () => {
    const secret = { MOLAR_CLIENT_ID: 'client', MOLAR_CLIENT_SECRET: 'the secret' };
    const { MOLAR_TOKEN: _, ...rest } = connection(url) as Record<string, string>;
    const ended = await molarIn(place.path, ['patients', 'list'], { ...rest, ...secret });
    expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(/redirect/) });
    expect(ended.stderr).not.toContain('the secret');
    expect(asked).toEqual([]);
  });
});
