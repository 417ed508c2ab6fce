import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { Link, LinkEnded, linePort } from '../../../src/server/workers/link.ts';

const opened: { destroy(): unknown }[] = [];

afterEach(() => {
  for (const each of opened.splice(0)) each.destroy();
});

/** Both ends of a connection. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  opened.push(near, far);
  return [near, far];
}

it('answers each question with what the handler says, however long and in whichever order', async () => {
  const [near, far] = await pair();
  const release: (() => void)[] = [];
  new Link(linePort(far))
    .on('echo', (value: unknown) => value)
    .on('slow', () => new Promise<string>((resolve) => release.push(() => resolve('late'))))
    .on('quick', () => release.shift()?.());
  const link = new Link(linePort(near));
  const slow = link.ask('slow');
  const long = { text: 'é\n'.repeat(100_000) };
  expect(await link.ask('echo', long)).toEqual(long);
  link.tell('quick');
  expect(await slow).toBe('late');
});

it('reads characters whose bytes arrive one by one', async () => {
  const message = { what: 'tell', value: 'Zoë 🦷' };
  const heard: unknown[] = [];
  const stream = new PassThrough();
  linePort(stream as unknown as Socket).onMessage((told) => heard.push(told));
  for (const byte of Buffer.from(`${JSON.stringify(message)}\n`)) stream.write(Buffer.from([byte]));
  await expect.poll(() => heard).toEqual([message]);
});

it('throws what the handler throws, with its facts', async () => {
  const [near, far] = await pair();
  new Link(linePort(far)).on('fail', () => {
    throw Object.assign(new TypeError('No.'), { code: 'ENOENT', exitCode: 9 });
  });
  await expect(new Link(linePort(near)).ask('fail')).rejects.toMatchObject({
    name: 'TypeError',
    message: 'No.',
    code: 'ENOENT',
    exitCode: 9,
  });
});

it('ends every question when the other process does, and refuses those that come later', async () => {
  const [near, far] = await pair();
  const heard = once(far, 'data');
  const link = new Link(linePort(near));
  const asked = link.ask('anything');
  await heard;
  far.destroy();
  await expect(asked).rejects.toBeInstanceOf(LinkEnded);
  await expect(link.ask('anything')).rejects.toBeInstanceOf(LinkEnded);
});
