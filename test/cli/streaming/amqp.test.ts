import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import StreamListen from '../../../src/commands/stream/listen.ts';
import { messageOf } from '../../core/stream/messages.ts';
import { answer, Script } from '../../core/transport/script.ts';
import { ScriptedBroker } from '../../support/scriptedbroker.ts';
import { runCommand, type World } from '../runcommand.ts';

const message = messageOf(41);

let broker: ScriptedBroker;
beforeEach(async () => {
  broker = await ScriptedBroker.listen();
  broker.answer = ({ name }) => {
    if (name !== 'BasicConsume') return undefined;
    setImmediate(() => {
      broker.deliver(1, 'org-1.5.PatientV1.ODD', 'no JSON');
      broker.deliver(2, message.routingKey, JSON.stringify(message));
    });
    return undefined;
  };
});
afterEach(() => broker.close());

it.each([
  ['', [], 'molar.stream'],
  ['?exchange=practice', [], 'practice'],
  ['?exchange=practice', ['--exchange', 'other'], 'other'],
])(
  'stream listen --amqp …%s %j hears the exchange %s, with the password of the environment',
  async (query, argv, exchange) => {
    const address = `amqp://reader@127.0.0.1:${broker.port}/${query}`;
    const line = ['--amqp', address, '--limit', '1', '--name', 'mirror', '--key', '*.*.PatientV1.*', ...argv];
    const ran = await runCommand('stream:listen', StreamListen, line, { env: { MOLAR_AMQP_PASSWORD: 'hidden' } });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: `${JSON.stringify(message)}\n`,
      stderr:
        'Warning: a message with the routing key org-1.5.PatientV1.ODD is not a stream message and was dropped.\n',
    });
    expect(broker.fieldsOf('ConnectionStartOk').map(({ response }) => String(response))).toEqual(['\0reader\0hidden']);
    expect(broker.fieldsOf('ExchangeDeclare')).toMatchObject([{ exchange }]);
    expect(broker.fieldsOf('QueueDeclare')).toMatchObject([{ queue: 'molar.mirror' }]);
    expect(broker.fieldsOf('BasicAck')).toMatchObject([{ deliveryTag: 1 }, { deliveryTag: 2 }]);
  },
);

it('stream listen --amqp trusts the certificates of --ca-cert, of the broker and of where it forwards to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  const file = join(folder, 'ca.pem');
  const to = ['--forward-to', 'http://localhost:3000/hook', '--ca-cert', file];
  const script = new Script(answer(204, ''));
  const trusted: unknown[] = [];
  const openNetwork: World['openNetwork'] = ({ certificates }) => {
    trusted.push(certificates);
    return { send: script.send, close: () => Promise.resolve() };
  };
  const run = (...argv: string[]) =>
    runCommand('stream:listen', StreamListen, ['--limit', '1', ...to, '--amqp', ...argv], { openNetwork });
  try {
    const away = ['amqp://broker.example.com', '--allow-http'];
    expect(await run(...away)).toMatchObject({ exitCode: 9, stderr: expect.stringContaining(file) });
    await writeFile(file, '-----BEGIN CERTIFICATE-----');
    expect(await run(`amqp://127.0.0.1:${broker.port}`)).toMatchObject({ exitCode: 0 });
    expect([trusted, script.left]).toEqual([[['-----BEGIN CERTIFICATE-----']], 0]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
