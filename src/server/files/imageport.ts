import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ImageReply, type ImageTask, workOnImage } from './imagework.ts';

/** Milliseconds without an image after which the process ends, and gives its memory back. */
const IDLE_MS = 10_000;

/**
 * The memory of the process: one heap for all its threads, and what is large is given back at once. Without, decoders in
 * several threads keep several times of what they need.
 */
const HEAP = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_TRIM_THRESHOLD_: '1048576' };

/** A process that works on images, and what it was asked for and has not answered. */
class ImageProcess {
  private readonly child: ChildProcess;
  private readonly pending = new Map<number, (reply: ImageReply) => void>();
  private asked = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(file: URL, maxBytes: number) {
    // Of the environment it gets nothing else: a decoder that is taken over finds no secret there.
    const { SystemRoot } = process.env;
    const env = { ...HEAP, JPEGMEM: String(Math.ceil(maxBytes / 1000)), ...(SystemRoot && { SystemRoot }) };
    this.child = fork(fileURLToPath(file), { env, execArgv: [], stdio: 'ignore' });
    this.child.on('message', ({ id, reply }: { id: number; reply: ImageReply }) => this.settle(id, reply));
    this.child.on('error', (error) => this.end(error.message));
    this.child.on('exit', (code, signal) => this.end(`it ended with ${code ?? signal}`));
  }

  run(task: ImageTask): Promise<ImageReply> {
    clearTimeout(this.idle);
    // As long as it works, this process waits for it.
    this.child.ref();
    this.child.channel?.ref();
    const id = ++this.asked;
    return new Promise((resolve) => {
      this.pending.set(id, resolve);
      this.child.send({ id, task }, (error) => error && this.end(error.message));
    });
  }

  private settle(id: number, reply: ImageReply): void {
    this.pending.get(id)?.(reply);
    this.pending.delete(id);
    if (this.pending.size > 0) return;
    this.child.unref();
    this.child.channel?.unref();
    // Where sharp is missing it may be installed later.
    const isMissing = 'fault' in reply && reply.fault === 'missing';
    this.idle = setTimeout(() => this.end(''), isMissing ? 0 : IDLE_MS).unref();
  }

  private end(message: string): void {
    if (running === this) running = undefined;
    clearTimeout(this.idle);
    if (this.child.connected) this.child.disconnect();
    for (const resolve of this.pending.values()) resolve({ fault: 'process', message });
    this.pending.clear();
  }
}

let running: ImageProcess | undefined;

/**
 * Works on an image in a process of its own, which ends when there is nothing to do: decoders leave much unused memory
 * behind, and what is wrong with them ends that process alone. `maxBytes`: what a decoder of JPEG may hold.
 */
export function runTask(task: ImageTask, maxBytes: number): Promise<ImageReply> {
  // Run from the sources, as tests are, there is no file that a process could load.
  if (import.meta.url.endsWith('.ts')) return workOnImage(task);
  running ??= new ImageProcess(new URL('./imagechild.js', import.meta.url), maxBytes);
  return running.run(task);
}
