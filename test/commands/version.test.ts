import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import Version from '../../src/commands/version.ts';
import { openNetwork } from '../../src/core/transport/network.ts';
import { runCommand, type World } from '../cli/runcommand.ts';
import { ROOT } from '../house/tree.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const [major] = version.split('.').map(Number);
const LATER = `${major + 1}.0.0`;

// A first request loads it, from the sources here: on a busy machine that takes longer than the answer may.
beforeAll(() => import('../../src/core/transport/undici.ts'));

let server: Server | undefined;
const heard: string[] = [];

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  heard.length = 0;
});

/** A place where releases are published, on this machine; tells everything that it is asked. */
async function releases(answer: RequestListener): Promise<string> {
  const started = createServer((request, response) => {
    heard.push([request.method, request.url, ...request.rawHeaders].join(' '));
    answer(request, response);
  });
  server = started;
  await new Promise<void>((listening) => started.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/molar`;
}

const listOf = (...versions: readonly string[]) =>
  versions
    .flatMap((one) => [`molar-${one}-linux-x64.tar.xz`, `molar-${one}-windows-arm64.zip`, 'sbom.json'])
    .map((name) => `${'a'.repeat(64)}  ${name}\n`)
    .join('');

const check = (env: Record<string, string>, world: World = { terminal: 80 }) =>
  runCommand('version', Version, ['--check'], { openNetwork, ...world, env });

/** Asks a place that publishes these lines. */
async function checkAgainst(text: string) {
  return check({ MOLAR_RELEASES: await releases((_, response) => response.end(text)) });
}

describe('molar version', () => {
  it('sends nothing unless it is asked to', async () => {
    const at = await releases((_, response) => response.end(listOf(LATER)));
    const { exitCode, stdout } = await runCommand('version', Version, [], {
      terminal: 80,
      env: { MOLAR_RELEASES: at },
    });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^molar-cli\/\S+ \S+ node-\S+\n$/),
    });
    expect(heard).toEqual([]);
  });
});

describe('molar version --check', () => {
  it('tells of a newer version, and how to upgrade; its one request says nothing of who asks', async () => {
    const { exitCode, stdout, stderr } = await checkAgainst(listOf(LATER));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`molar ${LATER} is available. To upgrade:\n  `);
    const [request = '', ...more] = heard;
    expect(more).toEqual([]);
    expect(request.replace(/host \S+ connection \S+ /i, '')).toBe('GET /molar/SHA256SUMS accept text/plain, */*');
  });

  it.each([
    [version, 'This is the newest version.\n'],
    ['0.0.1', 'This is newer than what is published, molar 0.0.1.\n'],
  ])('where %s is published', async (published, told) => {
    expect((await checkAgainst(listOf(published))).stdout).toMatch(new RegExp(`\n${told}$`));
  });

  it('follows a redirect within this machine or to https, and no other', async () => {
    const at = await releases(({ url }, response) => {
      const to = { '/molar/SHA256SUMS': '/v2/SHA256SUMS', '/bad/SHA256SUMS': 'http://example.com/SHA256SUMS' }[
        url ?? ''
      ];
      if (to === undefined) response.end(listOf(LATER));
      else response.writeHead(302, { location: to }).end();
    });
    expect((await check({ MOLAR_RELEASES: at })).stdout).toContain(LATER);
    expect(await check({ MOLAR_RELEASES: at.replace('/molar', '/bad') })).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('leads to an address that is not https'),
    });
  });

  it('ends where one redirect leads to the next', async () => {
    const at = await releases(({ url }, response) => response.writeHead(301, { location: `${url}x` }).end());
    expect(await check({ MOLAR_RELEASES: at })).toMatchObject({ exitCode: 8 });
    expect(heard).toHaveLength(6);
  });

  it('does nothing in jobs', async () => {
    const at = await releases((_, response) => response.end(listOf(LATER)));
    for (const world of [{ terminal: 80, env: { CI: 'true' } }, { env: {} }]) {
      const { exitCode, stdout, stderr } = await check({ ...world.env, MOLAR_RELEASES: at }, world);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('does nothing in jobs') });
      expect(stdout).not.toContain(LATER);
    }
    expect(heard).toEqual([]);
  });

  it.each([
    ['no address', {}, 2, 'It is not known where releases of molar are published.'],
    ['plain http to another machine', { MOLAR_RELEASES: 'http://example.com' }, 2, 'must be an https:// address'],
    ['a password', { MOLAR_RELEASES: 'https://a:b@example.com' }, 2, 'must be an https:// address'],
    ['no address at all', { MOLAR_RELEASES: 'example' }, 2, 'must be an https:// address'],
  ])('refuses %s', async (_name, env, exitCode, message) => {
    expect(await check(env)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  });

  it.each([
    ['a page', '<!doctype html>', 'lists no archive of molar'],
    ['two versions', listOf('1.0.0', '2.0.0'), 'lists archives of 2 versions'],
    ['something endless', 'x'.repeat(100_000), 'larger than 64 KiB'],
    ['what a terminal would obey', `${'a'.repeat(64)}  molar-1.0.0\u001b[2J-linux-x64.tar.xz\n`, 'lists no archive'],
  ])('refuses %s in place of the list', async (_name, text, message) => {
    expect(await checkAgainst(text)).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(message) });
  });

  it.each([
    [404, 4],
    [500, 8],
    [403, 8],
  ])('ends for HTTP %i with %i', async (status, exitCode) => {
    const at = await releases((_, response) => response.writeHead(status).end());
    expect(await check({ MOLAR_RELEASES: at })).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(`${status}`),
    });
  });

  it('waits for no answer longer than five seconds', async () => {
    const at = await releases((_, response) => response.write('a'));
    expect(await check({ MOLAR_RELEASES: at })).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('was not sent within 5 seconds'),
    });
  });

  it('fails where nobody listens', async () => {
    const at = await releases(() => undefined);
    await new Promise((closed) => server?.close(closed));
    expect(await check({ MOLAR_RELEASES: at })).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('refused'),
    });
  });
});
