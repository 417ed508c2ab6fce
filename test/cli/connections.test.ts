import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Connections } from '../../src/cli/connections.ts';
import type { Context } from '../../src/cli/context.ts';
import { Notes } from '../../src/cli/terminal/notes.ts';
import type { NetworkOptions } from '../../src/core/transport/network.ts';

let folder: string;
const at = (name: string) => join(folder, name);
const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  await writeFile(at('own.pem'), pem('own'));
  await writeFile(at('extra.pem'), pem('extra'));
  await writeFile(at('text.pem'), 'no certificate');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const unheard = new Notes({ write: () => Promise.resolve(), isTTY: false, columns: undefined }, false);

async function certificatesFor(flags: Record<string, unknown>, env: Record<string, string> = {}) {
  let options: NetworkOptions = {};
  const context = {
    env,
    openNetwork: (given: NetworkOptions) => {
      options = given;
      return { send: () => Promise.reject(new Error('unused')), close: () => Promise.resolve() };
    },
  } as unknown as Context;
  await new Connections(context, flags, 'test', unheard).network();
  return options.certificates;
}

describe('certificates', () => {
  it('are left to Node when none are named', async () => {
    expect(await certificatesFor({}, { NODE_EXTRA_CA_CERTS: at('extra.pem') })).toEqual([]);
  });

  it('are read, with those that Node would have added', async () => {
    const flags = { 'ca-cert': at('own.pem') };
    expect(await certificatesFor(flags)).toEqual([pem('own')]);
    expect(await certificatesFor(flags, { NODE_EXTRA_CA_CERTS: at('extra.pem') })).toEqual([pem('own'), pem('extra')]);
  });

  it.each([
    ['a file that is not there', 'missing.pem', 9],
    ['a file without a certificate', 'text.pem', 2],
  ])('are refused in %s', async (_name, name, exitCode) => {
    await expect(certificatesFor({ 'ca-cert': at(name) })).rejects.toMatchObject({ exitCode });
  });
});

describe('the network', () => {
  it('is opened once for requests that begin together, and closed', async () => {
    const calls: string[] = [];
    const openNetwork = () => {
      calls.push('open');
      return { send: () => Promise.reject(new Error('unused')), close: async () => void calls.push('close') };
    };
    const context = { env: {}, openNetwork } as unknown as Context;
    const connections = new Connections(context, { 'ca-cert': at('own.pem') }, 'test', unheard);
    const [one, other] = await Promise.all([connections.network(), connections.network()]);
    await connections.close();
    expect([one === other, ...calls]).toEqual([true, 'open', 'close']);
  });

  it('that cannot be opened is reported by the request, not by closing', async () => {
    const context = { env: {}, openNetwork: () => undefined } as unknown as Context;
    const connections = new Connections(context, { 'ca-cert': at('missing.pem') }, 'test', unheard);
    await expect(connections.network()).rejects.toMatchObject({ exitCode: 9 });
    await expect(connections.close()).resolves.toBeUndefined();
  });
});
