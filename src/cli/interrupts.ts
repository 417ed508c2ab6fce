import { type Failure, localFailure } from '../core/failure.ts';

/** SIGINT and SIGTERM as one abort signal whose reason is a Failure with exit code 130 or 143. */
export interface Interrupts {
  readonly signal: AbortSignal;
  /** The failure that a signal gave, once one came. */
  readonly failure: () => Failure | undefined;
  readonly stop: () => void;
}

/** Signals of this process. A second one ends it at once, as does one that nothing reacts to for `patience` milliseconds. */
export function processInterrupts(patience = 5000): Interrupts {
  const controller = new AbortController();
  const on = (name: NodeJS.Signals, failure: Failure) => {
    const listener = () => {
      if (controller.signal.aborted) process.exit(failure.exitCode);
      controller.abort(failure);
      setTimeout(() => process.exit(failure.exitCode), patience).unref();
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  };
  const stops = [
    on('SIGINT', localFailure('run.interrupted', 'Interrupted.')),
    on('SIGTERM', localFailure('run.terminated', 'Terminated.')),
  ];
  return {
    signal: controller.signal,
    failure: () => (controller.signal.aborted ? (controller.signal.reason as Failure) : undefined),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
