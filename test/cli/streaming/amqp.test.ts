import { afterEach, beforeEach, expect, it } from 'vitest';
import StreamListen from '../../../src/commands/stream/listen.ts';
import { messageOf } from '../../core/stream/messages.ts';
import { ScriptedBroker } from '../../support/scriptedbroker.ts';
import { runCommand } from '../runcommand.ts';

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
