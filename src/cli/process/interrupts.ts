import { type Failure, localFailure } from '../../core/failure.ts';

/** SIGINT, SIGTERM and SIGHUP as one abort signal whose reason is a Failure with exit code 130, 143 or 129. */
export interface Interrupts {
  /** Listening begins when this is first read, so that a command may handle signals in its own way. */
  readonly signal: AbortSignal;
  /** The failure of the signal that arrived; undefined before. */
  readonly failure: () => Failure | undefined;
  /** Says how many milliseconds a command takes to end; what takes longer is ended by force. */
  readonly allowEnding: (milliseconds: number) => void;
  /** As if SIGTERM had arrived, which Windows cannot send. */
  readonly terminate: () => void;
  readonly stop: () => void;
}

/** Milliseconds in which a command ends when it does not say otherwise. */
const PATIENCE_MS = 15_000;

/** Signals of this process. A second one ends it at once, as does one that nothing reacts to in time. */
export function processInterrupts(): Interrupts {
  let patience = PATIENCE_MS;
  const controller = new AbortController();
  const { signal } = controller;
  const stops: (() => void)[] = [];
  const on = (name: NodeJS.Signals, failure: Failure) => {
    const listener = () => {
      // Closing a terminal sends the signal twice, from the shell and from the terminal.
      if (signal.aborted && name === 'SIGHUP') return;
      if (signal.aborted) process.exit(failure.exitCode);
      controller.abort(failure);
      setTimeout(() => process.exit(failure.exitCode), patience).unref();
    };
    process.on(name, listener);
    stops.push(() => process.off(name, listener));
  };
  return {
    get signal() {
      if (stops.length === 0) {
        on('SIGINT', localFailure('run.interrupted', 'Interrupted.'));
        on('SIGTERM', localFailure('run.terminated', 'Terminated.'));
        // A closed terminal is no reason to leave locks and half a page behind.
        on('SIGHUP', localFailure('run.hung_up', 'The terminal was closed.'));
      }
      return signal;
    },
    allowEnding: (milliseconds) => {
      patience = milliseconds;
    },
    terminate: () => {
      // A second signal would end it by force.
      if (!signal.aborted) process.emit('SIGTERM', 'SIGTERM');
    },
    failure: () => (signal.aborted ? (signal.reason as Failure) : undefined),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
