import { EventEmitter } from 'node:events';

/** What the system shows of a process that was started: the test is the process. */
export class Process extends EventEmitter {
  readonly sent: { readonly ask?: number; readonly answer?: number; readonly what?: string; value?: unknown }[] = [];
  pid: number | undefined = 1;

  send(message: object): void {
    this.sent.push(message);
  }

  kill(): void {
    this.emit('disconnect');
    this.emit('exit', null, 'SIGKILL');
  }

  /** Whether it was told something. */
  was(told: string): boolean {
    return this.sent.some(({ what }) => what === told);
  }

  /** Whether a question of this process has its answer. */
  hasAnswer(ask: number): boolean {
    return this.sent.some(({ answer }) => answer === ask);
  }
}
