// A line of so many megabits a second and so many milliseconds there and back, in a process of its own: all connections
// share it, each way for itself. Bytes are late, never held up by others than those before them: what is asked while an
// answer is on its way goes out at once. Its arguments: the port of the server, megabits a second, milliseconds. Prints
// its own port. A connection takes one way there and back to stand; that TCP begins slowly is left out. With `plain` as
// the fourth argument requests lose their Accept-Encoding on the way.
import { connect, createServer } from 'node:net';

const [port, megabits, milliseconds] = process.argv.slice(2, 5).map(Number);
const isPlain = process.argv[5] === 'plain';
const BYTES_A_MILLISECOND = (megabits * 1e6) / 8 / 1000;
const PACKET = 1460;
/** Timers are late by up to a millisecond: what is due within one goes out now, so that it is right on average. */
const EARLY = 1;

/** One direction of the line: packets arrive in the order in which they were sent. */
class Way {
  #free = 0;
  #packets = [];
  #isWaiting = false;

  /** Sends bytes, and hands them to `arrive` packet by packet. */
  send(bytes, arrive) {
    for (let start = 0; start < bytes.length; start += PACKET) {
      const packet = bytes.subarray(start, start + PACKET);
      this.#free = Math.max(this.#free, performance.now()) + packet.length / BYTES_A_MILLISECOND;
      this.#packets.push({ due: this.#free + milliseconds / 2, deliver: () => arrive(packet) });
    }
    this.#wait();
  }

  #wait() {
    const [next] = this.#packets;
    if (this.#isWaiting || next === undefined) return;
    this.#isWaiting = true;
    setTimeout(() => this.#deliver(), Math.floor(next.due - performance.now()));
  }

  #deliver() {
    this.#isWaiting = false;
    const now = performance.now() + EARLY;
    const left = this.#packets.findIndex(({ due }) => due > now);
    for (const { deliver } of this.#packets.splice(0, left < 0 ? Infinity : left)) deliver();
    this.#wait();
  }
}

/** The same request with a header that no server knows in place of the one about compression. */
function withoutCodings(bytes) {
  return Buffer.from(bytes.toString('latin1').replace(/^accept-encoding:/im, 'x-other-encoding:'), 'latin1');
}

const [there, back] = [new Way(), new Way()];

const server = createServer({ pauseOnConnect: true }, (client) => {
  const upstream = connect(port, '127.0.0.1');
  for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => socket.destroy());
  client.on('data', (bytes) => there.send(isPlain ? withoutCodings(bytes) : bytes, (packet) => upstream.write(packet)));
  upstream.on('data', (bytes) => back.send(bytes, (packet) => client.write(packet)));
  client.once('close', () => upstream.destroy());
  upstream.once('close', () => client.destroy());
  setTimeout(() => client.resume(), milliseconds);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
