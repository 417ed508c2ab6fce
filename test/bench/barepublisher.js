// What a relay is measured against, in a process of its own: amqplib that publishes messages which it has in memory, each
// with a confirm, and at most some hundred not yet confirmed. Takes the broker's address, the exchange and a file of
// messages, one of JSON a line: key, properties, text.
import { readFileSync } from 'node:fs';
import { connect } from 'amqplib';

const IN_FLIGHT = 500;

const [address, exchange, file] = process.argv.slice(2);
const messages = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const { key, properties, text } = JSON.parse(line);
    return { key, properties, bytes: Buffer.from(text) };
  });

const connection = await connect(address);
const channel = await connection.createConfirmChannel();
let next = 0;
let open = 0;
await new Promise((resolve, reject) => {
  const settled = (problem) => {
    if (problem) reject(problem);
    open--;
    publishMore();
    if (open === 0) resolve();
  };
  const publishMore = () => {
    while (open < IN_FLIGHT && next < messages.length) {
      const { key, properties, bytes } = messages[next++];
      open++;
      channel.publish(exchange, key, bytes, properties, settled);
    }
  };
  publishMore();
});
await connection.close();
