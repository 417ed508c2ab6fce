import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { databasePlace } from '../../src/core/mirror/place.ts';
import { connect } from '../../src/core/mirror/postgres/connection.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-password-'));
  vi.stubEnv('PGPASSWORD', undefined);
  vi.stubEnv('PGPASSFILE', join(folder, 'pgpass'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** A message of the server (PostgreSQL, Message Formats): its kind, its length, and the rest. */
function message(kind: string, ...parts: readonly (number | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part);
      const number = Buffer.alloc(4);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const REFUSED = message('E', 'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0');

/** What a server hears after its first messages, each answered by the next, and what becomes of the connection. */
async function connected(...answers: readonly Buffer[]) {
  const heard: string[] = [];
  const server = createServer((socket) => {
    let turn = 0;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard.push(data.toString('latin1'));
      socket.write(answers[turn++] ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const place = databasePlace(`postgres://ann@127.0.0.1:${port}/records`, '--from', {});
  try {
    const fault: unknown = await connect(place, {}).catch((cause: unknown) => cause);
    return { heard, fault };
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

it('a password of the password file is used, without a warning', async () => {
  await writeFile(join(folder, 'pgpass'), '127.0.0.1:*:other:ann:wrong\n127.0.0.1:*:records:ann:geheim\n', {
    mode: 0o600,
  });
  const warnings: Error[] = [];
  const listener = (warning: Error) => warnings.push(warning);
  process.on('warning', listener);
  try {
    const { heard, fault } = await connected(message('R', 3), REFUSED);
    expect(heard[1]).toMatch(/^p....geheim\0$/s);
    expect(fault).toMatchObject({ exitCode: 8, message: expect.stringContaining('refused the password') });
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', listener);
  }
});

it('a server that wants a password is told from a defect', async () => {
  const { fault } = await connected(
    message('R', 10, 'SCRAM-SHA-256\0\0'),
    message('R', 11, 'r=nonce,s=c2FsdA==,i=4096'),
  );
  expect(fault).toMatchObject({
    exitCode: 8,
    message: expect.stringContaining('wants a password'),
    hint: 'Put it into PGPASSWORD or ~/.pgpass.',
  });
});
