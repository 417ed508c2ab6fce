// The listeners of a measurement, in a process of their own: sockets that read as fast as they can and look for one text.
// Told by messages of its parent: a job, then `go`. Answers `opened`, then how many milliseconds and bytes it took.
import { connect } from 'node:net';

/** The last message is at most so long. */
const TAIL_BYTES = 16 * 1024;

/**
 * One listener. `live`: the request is sent before `go`, and its answer has begun; otherwise `go` sends it. `end` is in
 * the last message and nowhere else, and `least` is how many bytes are there by then.
 */
class Listener {
  constructor({ port, request, end, least }) {
    this.request = request;
    this.end = Buffer.from(end);
    this.least = least;
    this.bytes = 0;
    this.carry = Buffer.alloc(0);
    this.socket = connect(port, '127.0.0.1');
    this.connected = new Promise((resolve) => this.socket.once('connect', resolve));
    this.begun = new Promise((resolve) => this.socket.once('data', resolve));
    this.done = new Promise((resolve, reject) => {
      this.socket.on('data', (chunk) => this.read(chunk) && resolve());
      this.socket.once('error', reject);
      this.socket.once('close', () => reject(new Error(`A listener was cut off after ${this.bytes} bytes.`)));
    });
  }

  ask() {
    this.socket.write(this.request);
  }

  read(chunk) {
    this.bytes += chunk.length;
    if (this.bytes < this.least) {
      if (chunk.length >= this.end.length) this.carry = chunk.subarray(-TAIL_BYTES);
      return false;
    }
    const tail = Buffer.concat([this.carry, chunk]).subarray(-TAIL_BYTES);
    this.carry = tail;
    return tail.includes(this.end);
  }
}

async function run({ count, live, ...job }) {
  const listeners = Array.from({ length: count }, () => new Listener(job));
  await Promise.all(listeners.map(({ connected }) => connected));
  if (live) {
    for (const listener of listeners) listener.ask();
    await Promise.all(listeners.map(({ begun }) => begun));
  }
  const gone = new Promise((resolve) => process.once('message', resolve));
  process.send({ opened: true });
  await gone;
  const began = performance.now();
  if (!live) for (const listener of listeners) listener.ask();
  await Promise.all(listeners.map(({ done }) => done));
  const milliseconds = performance.now() - began;
  const bytes = listeners.reduce((sum, listener) => sum + listener.bytes, 0);
  await Promise.all(
    listeners.map(({ socket }) => {
      socket.removeAllListeners('close');
      return new Promise((resolve) => socket.once('close', resolve).destroy());
    }),
  );
  process.send({ milliseconds, bytes });
}

process.on('message', (job) => {
  if (job.port !== undefined) void run(job);
});
process.once('disconnect', () => process.exit());
