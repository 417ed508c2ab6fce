// A proxy that passes bytes on, in a process of its own: what goes to the server is held back for some milliseconds, as
// on a line of that round trip. Its arguments: the port of the server, and the milliseconds. Prints its own port.
import { connect, createServer } from 'node:net';

const [port, milliseconds] = process.argv.slice(2).map(Number);

const server = createServer((client) => {
  const upstream = connect(port, '127.0.0.1');
  for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => socket.destroy());
  client.on('data', (chunk) => setTimeout(() => upstream.write(chunk), milliseconds));
  client.once('close', () => upstream.destroy());
  upstream.pipe(client);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
