// How fast the relay brings what is in the outbox to a broker, against a bare publisher that has the same in memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { ownFolders } from './import.js';
import { writePractice } from './practice.js';
import { textOf, watch, withServer } from './processes.js';
import { drained, fillingRate, openBroker, sentOf, withQueue } from './queue.js';

const PUBLISHER = resolve(import.meta.dirname, 'barepublisher.js');

/** Fills an outbox, and has it relayed and published in turn; every round to an exchange of its own. */
export async function measure({ folder, signal, small, report }) {
  report.section(
    'Relay to RabbitMQ',
    'Exchange, queue and messages are durable, and each message is confirmed; both sides keep at most 500 in flight, and the queue is looked at until it holds all. The relay reads the outbox of its database, in order, and notes there how far all is confirmed; the publisher has the messages in memory.',
  );
  const broker = await openBroker();
  if (broker.connection === undefined) {
    return report.note(`Left out: no RabbitMQ answers at ${broker.name} (${broker.why}).`);
  }
  try {
    const env = ownFolders(folder);
    const data = ['--data', join(folder, 'data')];
    const total = await filledOutbox(folder, data, env, small ? 10_000 : 50_000, signal);
    const messages = join(folder, 'messages.ndjson');
    const relay = (queue) =>
      withServer([...data, '--amqp', queue.address], env, () => fillingRate(queue, total, signal));
    const publish = async (queue) => {
      const address = queue.address.replace(/\?.*/, '');
      const { child } = watch(
        spawn(process.execPath, [PUBLISHER, address, queue.exchange, messages], {
          stdio: ['ignore', 'ignore', 'inherit'],
        }),
      );
      const ended = once(child, 'close').then(([code]) => {
        if (code !== 0) throw new Error(`The publisher ended with ${code}.`);
      });
      const [rate] = await Promise.all([fillingRate(queue, total, signal), ended]);
      return rate;
    };
    await warmUp(broker, { relay, publish, total, messages });
    const [ours, theirs] = [[], []];
    for (let round = 0; round < (small ? 3 : 5); round++) {
      ours.push(await withQueue(broker, relay));
      theirs.push(await withQueue(broker, publish));
    }
    const kept = report.ratio({
      what: `${total.toLocaleString('en')} messages from the outbox`,
      ours,
      theirs,
      against: 'amqplib with confirms',
      unit: 'messages/s',
    });
    if (!kept) report.note('Both wait for the broker; the relay also reads the outbox, and makes each envelope.');
  } finally {
    await broker.close();
  }
}

/** Imports a practice of about so many records: each is a message. Answers how many. */
async function filledOutbox(folder, data, env, records, signal) {
  const file = join(folder, 'practice.ndjson');
  const { counts } = await writePractice(file, records / 4, (records / 4) * 3, signal);
  await textOf(['server', 'import', file, '--json', ...data], env);
  return counts.PatientV1 + counts.Transaction + counts.TransactionTagV1;
}

/** A round of each that is not counted: what the relay sent is what the publisher sends, and both bring the same. */
async function warmUp(broker, { relay, publish, total, messages }) {
  const file = createWriteStream(messages);
  const relayed = await withQueue(broker, async (queue) => {
    await relay(queue);
    return drained(queue, total, (message) =>
      file.write(`${JSON.stringify({ ...sentOf(message), text: message.content.toString() })}\n`),
    );
  });
  await finished(file.end());
  const published = await withQueue(broker, async (queue) => {
    await publish(queue);
    return drained(queue, total);
  });
  if (published !== relayed) throw new Error('The publisher did not send what the relay sent.');
}
